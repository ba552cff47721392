import type { SecretStoreSettings } from '#domain/secret-store/store.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type { Columns } from '../columns.ts';

export interface SecretStoresTable {
  readonly secret_store_id: string;
  readonly stream_version: number;
  readonly settings: SecretStoreSettings;
  /** The encrypted credential, which is a token or the secret ID of an AppRole. Null for a store of files. */
  readonly sealed: Sealed | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deleted: boolean;
}

export const secretStoreColumns: Columns<SecretStoresTable> = {
  secret_store_id: 'uuid',
  stream_version: 'bigint',
  settings: 'jsonb',
  sealed: 'jsonb',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  deleted: 'boolean',
};
