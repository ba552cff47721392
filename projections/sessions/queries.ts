import type { Role } from '#domain/kernel/actor.ts';
import { mustParse, parseSessionId, type SessionId, type UserId } from '#domain/kernel/ids.ts';
import type { SessionIdentity } from '#domain/session/events.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

/** A valid session, with the current data of its user. */
export interface OpenSession {
  readonly session_id: string;
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly group_ids: readonly string[];
  readonly can_audit: boolean;
  /** Whether the session was opened with a password only, and the account has no second factor. */
  readonly is_single_factor: boolean;
}

/** The session, unless it was closed, or ended because the password changed or the account was disabled. Enabling
 *  the account again does not restore the session. */
export async function findOpenSession(
  db: ReadModels,
  sessionId: SessionId,
): Promise<OpenSession | undefined> {
  const [session] = await openSessions(db, [sessionId]);
  return session;
}

/** The sessions that are valid. */
export async function findOpenSessions(
  db: ReadModels,
  sessionIds: readonly SessionId[],
): Promise<readonly OpenSession[]> {
  return await openSessions(db, sessionIds);
}

/** The condition that session `s` of user `u` is valid. */
const isValid = `s.closed_at IS NULL AND NOT u.disabled
  AND (s.account_version = u.access_version OR s.session_id = u.kept_session_id)`;

const openSessions = statement<OpenSession>(`
  SELECT s.session_id, u.user_id, u.email, u.name, u.role, u.group_ids, u.can_audit,
    s.identity IS NULL AND u.second_factor IS NULL AS is_single_factor
  FROM sessions s JOIN users u USING (user_id)
  WHERE s.session_id = ANY($1::uuid[]) AND ${isValid}`);

const maxListedSessions = 200;

const sessionsOfUser = statement<SignedInSession>(`
  SELECT s.session_id, s.opened_at, t.traded_at AS refreshed_at, s.ip, s.user_agent
  FROM sessions s JOIN users u USING (user_id) JOIN session_tokens t USING (session_id)
  WHERE s.user_id = $1 AND ${isValid} AND t.traded_at > $2
  ORDER BY s.opened_at DESC LIMIT ${maxListedSessions}`);

/** A session as its user sees it. */
export interface SignedInSession {
  readonly session_id: string;
  readonly opened_at: Date;
  readonly refreshed_at: Date;
  /** IP address that opened the session. */
  readonly ip: string | null;
  readonly user_agent: string | null;
}

/** Open sessions of a user, newest first; at most 200.
 *  @param refreshedAfter sessions without a refresh since this time have expired */
export async function listOpenSessions(
  db: ReadModels,
  userId: UserId,
  refreshedAfter: Date,
): Promise<readonly SignedInSession[]> {
  return await sessionsOfUser(db, userId, refreshedAfter);
}

const sessionsOfIdentity = statement<{ readonly session_id: string }>(`
  SELECT session_id FROM sessions WHERE closed_at IS NULL AND identity @> $1::jsonb LIMIT 1000`);

/** Open sessions that a sign-in at an identity provider opened; at most 1000.
 *  @param identity the fields that must be equal */
export async function findSessionsOfIdentity(
  db: ReadModels,
  identity: Partial<SessionIdentity>,
): Promise<readonly SessionId[]> {
  const rows = await sessionsOfIdentity(db, JSON.stringify(identity));
  return rows.map((row) => mustParse(parseSessionId, row.session_id));
}

const recentSessionFrom = statement<object>(`SELECT FROM (
    SELECT ip FROM sessions WHERE user_id = $1 ORDER BY opened_at DESC LIMIT 50) s
  WHERE ip = $2 LIMIT 1`);

/** Whether one of the user's 50 newest sessions was opened from the address. */
export async function hasSignedInFrom(
  db: ReadModels,
  userId: UserId,
  ip: string,
): Promise<boolean> {
  return (await recentSessionFrom(db, userId, ip)).length === 1;
}
