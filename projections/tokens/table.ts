import type { Scope } from '#domain/kernel/rights.ts';
import type { Columns } from '../columns.ts';

export interface TokensTable {
  readonly token_id: string;
  readonly stream_version: number;
  readonly user_id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly token_hash: string;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

export const tokenColumns: Columns<TokensTable> = {
  token_id: 'uuid',
  stream_version: 'bigint',
  user_id: 'uuid',
  name: 'text',
  scopes: 'jsonb',
  token_hash: 'text',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
  revoked_at: 'timestamptz',
};
