/** Events of a script's secrets, in one stream `secret-<script id>`. Permanent: never rename a type or change the
 *  meaning of a field. Values are stored as ciphertext only. The key is stored outside the events, so that it can
 *  be destroyed. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ScriptId, SecretStoreId } from '#domain/kernel/ids.ts';
import type { StorePlace } from '#domain/secret-store/store.ts';

/** A value encrypted with AES-256-GCM. The additional data binds owner, name, version and key ID to the value. */
export interface Sealed {
  /** ID of the owner's data key. */
  readonly keyId: string;
  /** A nonce of 96 bits in base64. */
  readonly nonce: string;
  /** Ciphertext and tag in base64. */
  readonly ciphertext: string;
}

/** The path and key of a value in an external store. */
export interface SecretSource extends StorePlace {
  readonly storeId: SecretStoreId;
}

/** One value of a secret. */
export interface SecretValue {
  readonly name: string;
  /** Version of this secret, from 1. */
  readonly version: number;
  /** Whether the secret is also an environment variable of runs. */
  readonly asEnvironment: boolean;
  /** Days after which the value is due for rotation. Absent: never. */
  readonly rotateAfterDays?: number;
  /** The value, or the source as JSON. The two are encrypted with different additional data, so that a release
   *  without support for sources cannot use the source as the value. */
  readonly sealed: Sealed;
  /** The store that contains the value. Absent if the value itself is encrypted here. */
  readonly source?: SecretSource;
}

export type SecretSet = DomainEvent<'SecretSet', { readonly scriptId: ScriptId } & SecretValue>;

export type SecretDeleted = DomainEvent<
  'SecretDeleted',
  { readonly scriptId: ScriptId; readonly name: string }
>;

export type SecretEvent = SecretSet | SecretDeleted;
