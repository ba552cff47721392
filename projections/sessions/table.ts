import type { SessionIdentity } from '#domain/session/events.ts';
import type { Columns } from '../columns.ts';

export interface SessionsTable {
  readonly session_id: string;
  readonly stream_version: number;
  readonly user_id: string;
  /** Null if an old release opened the session. Such a session is no longer valid. */
  readonly account_version: number | null;
  readonly opened_at: Date;
  /** The IP address from which the session was opened. `user_agent` is from the same request. */
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly closed_at: Date | null;
  /** Null if the session was opened with a password. */
  readonly identity: SessionIdentity | null;
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
  identity: 'jsonb',
};
