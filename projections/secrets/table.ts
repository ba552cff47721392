import type { Sealed, SecretSource } from '#domain/secret/events.ts';

/** Rows of deleted secrets remain without ciphertext, so that version numbers are never reused. */
interface SecretRow {
  readonly name: string;
  readonly stream_version: number;
  readonly version: number;
  readonly as_environment: boolean;
  readonly rotate_after_days: number | null;
  readonly sealed: Sealed | null;
  /** The secret store that contains the value. Null if the platform stores the value. */
  readonly source: SecretSource | null;
  readonly updated_at: Date;
  readonly updated_by: string;
}

export interface SecretsTable extends SecretRow {
  readonly script_id: string;
}

export interface GroupSecretsTable extends SecretRow {
  readonly group_id: string;
}

export interface SecretUsesTable {
  readonly script_id: string;
  readonly name: string;
  readonly last_used_at: Date;
  /** The last run that received the secret. */
  readonly last_used_by: string;
}

/** One row for each script that received a secret of its group. */
export interface GroupSecretUsesTable extends SecretUsesTable {
  readonly group_id: string;
}

/** Data keys are not part of the event history, so no projection writes them. */
export interface DataKeysTable {
  readonly key_id: string;
  readonly script_id: string;
}
