import type { Columns } from '../columns.ts';

export interface SessionsTable {
  readonly session_id: string;
  readonly stream_version: number;
  readonly user_id: string;
  readonly refresh_hash: string;
  readonly opened_at: Date;
  readonly refreshed_at: Date;
  readonly closed_at: Date | null;
}

export const sessionColumns: Columns<SessionsTable> = {
  session_id: 'uuid',
  stream_version: 'bigint',
  user_id: 'uuid',
  refresh_hash: 'text',
  opened_at: 'timestamptz',
  refreshed_at: 'timestamptz',
  closed_at: 'timestamptz',
};
