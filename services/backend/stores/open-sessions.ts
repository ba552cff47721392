/** Where somebody is signed in. */
import type { UserId } from '#domain/kernel/ids.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { stillCounts } from '#projections/sessions/queries.ts';
import { oldestGood } from './session-tokens.ts';

/** More than anybody looks at. */
const maxSessions = 200;

const openSessions = `SELECT s.session_id, s.opened_at, t.traded_at AS refreshed_at, s.ip, s.user_agent
  FROM sessions s JOIN users u USING (user_id) JOIN session_tokens t USING (session_id)
  WHERE s.user_id = $1 AND ${stillCounts} AND t.traded_at > $2
  ORDER BY s.opened_at DESC LIMIT ${maxSessions}`;

export interface OpenSessionRow {
  readonly session_id: string;
  readonly opened_at: Date;
  readonly refreshed_at: Date;
  /** Address that it was opened from. */
  readonly ip: string | null;
  readonly user_agent: string | null;
}

/** Sessions that count, the newest first; no more than anybody looks at. */
export async function listOpenSessions(
  db: Queryable,
  userId: UserId,
  now: Date,
): Promise<readonly OpenSessionRow[]> {
  const { rows } = await db.query<OpenSessionRow>(openSessions, [userId, oldestGood(now)]);
  return rows;
}
