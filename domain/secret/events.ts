/** Events of a script's secrets, in one stream `secret-<script id>`. Permanent: never rename a type or change the
 *  meaning of a field. Values are stored only as ciphertext. The data key is stored outside the events, so that it
 *  can be destroyed. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ScriptId, SecretStoreId } from '#domain/kernel/ids.ts';
import type { StorePlace } from '#domain/secret-store/store.ts';

/** A value encrypted with AES-256-GCM. The additional authenticated data binds the value to its owner, name, version
 *  and key ID. */
export interface Sealed {
  /** ID of the owner's data key. */
  readonly keyId: string;
  /** A 96-bit nonce in base64. */
  readonly nonce: string;
  /** The ciphertext with its authentication tag, in base64. */
  readonly ciphertext: string;
}

/** The path and key of a value in a secret store. */
export interface SecretSource extends StorePlace {
  readonly storeId: SecretStoreId;
}

/** One value of a secret, with the settings of the secret. */
export interface SecretValue {
  readonly name: string;
  /** The version of this secret, starting at 1. */
  readonly version: number;
  /** Whether runs also receive the secret as an environment variable. */
  readonly asEnvironment: boolean;
  /** Days after which the value is due for rotation. Absent if it is never due. */
  readonly rotateAfterDays?: number;
  /** The encrypted value, or the encrypted source as JSON. Values and sources have different additional
   *  authenticated data. A release that does not support sources therefore cannot mistake a source for a value. */
  readonly sealed: Sealed;
  /** The secret store that contains the value. Absent if `sealed` contains the value itself. */
  readonly source?: SecretSource;
}

export type SecretSet = DomainEvent<'SecretSet', { readonly scriptId: ScriptId } & SecretValue>;

export type SecretDeleted = DomainEvent<
  'SecretDeleted',
  { readonly scriptId: ScriptId; readonly name: string }
>;

export type SecretEvent = SecretSet | SecretDeleted;
