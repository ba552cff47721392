import type { Sealed } from '#domain/secret/events.ts';

/** Deleted secrets remain without ciphertext, so that no version is reused. */
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
  /** The run that received the secret. */
  readonly last_used_by: string;
}

/** Keys are not part of the history, so no projection writes them. */
export interface DataKeysTable {
  readonly key_id: string;
  readonly script_id: string;
}
