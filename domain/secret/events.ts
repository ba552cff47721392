/** Events of a script's secrets, in one stream `secret-<script id>`. Permanent: never rename a type or change the
 *  meaning of a field. Values are stored as ciphertext only. The key is stored outside the events, so that it can
 *  be destroyed. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';

/** A value encrypted with AES-256-GCM. The additional data binds owner, name, version and key id to the value. */
export interface Sealed {
  /** Id of the owner's data key. */
  readonly keyId: string;
  /** 96 bits in base64. */
  readonly nonce: string;
  /** Ciphertext and tag in base64. */
  readonly ciphertext: string;
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
  readonly sealed: Sealed;
}

export type SecretSet = DomainEvent<'SecretSet', { readonly scriptId: ScriptId } & SecretValue>;

export type SecretDeleted = DomainEvent<
  'SecretDeleted',
  { readonly scriptId: ScriptId; readonly name: string }
>;

export type SecretEvent = SecretSet | SecretDeleted;
