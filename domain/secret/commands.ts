import type { ScriptId } from '#domain/kernel/ids.ts';
import type { Sealed } from './events.ts';

export interface SetSecret {
  readonly type: 'SetSecret';
  readonly scriptId: ScriptId;
  readonly name: string;
  /** The version that the value was sealed for: the current version plus 1. */
  readonly version: number;
  /** Absent: unchanged; a new secret is not an environment variable. */
  readonly asEnvironment?: boolean;
  readonly sealed: Sealed;
}

export interface DeleteSecret {
  readonly type: 'DeleteSecret';
  readonly scriptId: ScriptId;
  readonly name: string;
}

export type SecretCommand = SetSecret | DeleteSecret;
