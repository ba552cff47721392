/** Where somebody is signed in. */
import type { UserId } from '#domain/kernel/ids.ts';
import type { Queryable } from '#infra/postgres/database.ts';

const openSessions = `SELECT s.session_id, s.opened_at, s.refreshed_at, e.metadata ->> 'ip' AS ip
  FROM sessions s LEFT JOIN events e ON e.stream_id = 'session-' || s.session_id AND e.version = 1
  WHERE s.user_id = $1 AND s.closed_at IS NULL AND s.refreshed_at > $2
  ORDER BY s.opened_at DESC LIMIT $3`;

export interface OpenSessionRow {
  readonly session_id: string;
  readonly opened_at: Date;
  readonly refreshed_at: Date;
  /** Address that it was opened from. */
  readonly ip: string | null;
}

/** Sessions that were renewed after `since`, the newest first; at most `limit`. */
export async function listOpenSessions(
  db: Queryable,
  userId: UserId,
  since: Date,
  limit: number,
): Promise<readonly OpenSessionRow[]> {
  const { rows } = await db.query<OpenSessionRow>(openSessions, [userId, since, limit]);
  return rows;
}
