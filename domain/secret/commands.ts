import type { ScriptId } from '#domain/kernel/ids.ts';
import type { Sealed, SecretSource } from './events.ts';

/** A new value of a secret. */
export interface SecretChange {
  readonly name: string;
  /** The version that the value was sealed for: the current version plus 1. */
  readonly version: number;
  /** Absent: unchanged; a new secret is not an environment variable. */
  readonly asEnvironment?: boolean;
  /** Absent: unchanged; null: the value is never due for rotation. */
  readonly rotateAfterDays?: number | null;
  readonly sealed: Sealed;
  /** The path and key of the value in an external store, as an alternative to a value. */
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
