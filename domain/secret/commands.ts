import type { ScriptId } from '#domain/kernel/ids.ts';
import type { Sealed } from './events.ts';

export interface SetSecret {
  readonly type: 'SetSecret';
  readonly scriptId: ScriptId;
  readonly name: string;
  /** The version that the value was sealed for: the one after the present. */
  readonly version: number;
  /** Left out, it stays as it is, and a new secret is none. */
  readonly asEnvironment?: boolean;
  readonly sealed: Sealed;
}

export interface DeleteSecret {
  readonly type: 'DeleteSecret';
  readonly scriptId: ScriptId;
  readonly name: string;
}

export type SecretCommand = SetSecret | DeleteSecret;
