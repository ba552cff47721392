import type { ScriptId } from '#domain/kernel/ids.ts';
import type { Sealed, SecretSource } from './events.ts';

/** A new value of a secret. */
export interface SecretChange {
  readonly name: string;
  /** The version for which the value was encrypted, which is the current version plus 1. */
  readonly version: number;
  /** Whether runs receive the secret as an environment variable. If absent, the setting is unchanged. The default
   *  for a new secret is false. */
  readonly asEnvironment?: boolean;
  /** Days after which the value is due for rotation. Null means never. If absent, the setting is unchanged. */
  readonly rotateAfterDays?: number | null;
  readonly sealed: Sealed;
  /** The path and key of the value in a secret store. Set if the value is in a secret store. */
  readonly source?: SecretSource;
}

export interface SetSecret extends SecretChange {
  readonly type: 'SetSecret';
  readonly scriptId: ScriptId;
}

export interface DeleteSecret {
  readonly type: 'DeleteSecret';
  readonly scriptId: ScriptId;
  readonly name: string;
}

export type SecretCommand = SetSecret | DeleteSecret;
