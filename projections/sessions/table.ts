import type { Columns } from '../columns.ts';

export interface SessionsTable {
  readonly session_id: string;
  readonly stream_version: number;
  readonly user_id: string;
  /** Null: of an old program; it counts no longer. */
  readonly account_version: number | null;
  readonly opened_at: Date;
  /** Where it was opened from, and by what. */
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly closed_at: Date | null;
}

export const sessionColumns: Columns<SessionsTable> = {
  session_id: 'uuid',
  stream_version: 'bigint',
  user_id: 'uuid',
  account_version: 'bigint',
  opened_at: 'timestamptz',
  ip: 'text',
  user_agent: 'text',
  closed_at: 'timestamptz',
};
