/** Events of an external secret store, in streams `secret_store-<id>`. Permanent: never rename a type or change the
 *  meaning of a field. Credentials are stored only as ciphertext. The secret values in the store are never recorded. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { SecretStoreId } from '#domain/kernel/ids.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type { SecretStoreSettings } from './store.ts';

export type SecretStoreCreated = DomainEvent<
  'SecretStoreCreated',
  SecretStoreSettings & {
    readonly secretStoreId: SecretStoreId;
    /** The encrypted token or secret ID. Null for a store of files. */
    readonly sealed: Sealed | null;
  }
>;

/** Settings were changed. Settings that are absent keep their values. */
export type SecretStoreChanged = DomainEvent<
  'SecretStoreChanged',
  Partial<SecretStoreSettings> & {
    readonly secretStoreId: SecretStoreId;
    readonly sealed?: Sealed | null;
  }
>;

export type SecretStoreDeleted = DomainEvent<
  'SecretStoreDeleted',
  { readonly secretStoreId: SecretStoreId }
>;

export type SecretStoreEvent = SecretStoreCreated | SecretStoreChanged | SecretStoreDeleted;
