import type { Sealed } from '#domain/secret/events.ts';

/** Deleted secrets stay, without ciphertext: a version never comes twice. */
export interface SecretsTable {
  readonly script_id: string;
  readonly name: string;
  readonly stream_version: number;
  readonly version: number;
  readonly as_environment: boolean;
  readonly sealed: Sealed | null;
  readonly updated_at: Date;
  readonly updated_by: string;
}

export interface SecretUsesTable {
  readonly script_id: string;
  readonly name: string;
  readonly last_used_at: Date;
  /** The run that was given it. */
  readonly last_used_by: string;
}

/** No projection writes it: keys are no part of the history. */
export interface DataKeysTable {
  readonly key_id: string;
  readonly script_id: string;
}
