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
  /** Whether the user signed in with only a password and the account has no second factor. */
  readonly is_single_factor: boolean;
}

/** Returns a session if it is valid. A session becomes invalid when it is closed, when the password is changed, or
 *  when the account is disabled. Enabling the account again does not make the session valid. */
export async function findOpenSession(
  db: ReadModels,
  sessionId: SessionId,
): Promise<OpenSession | undefined> {
  const [session] = await openSessions(db, [sessionId]);
  return session;
}

/** Returns the given sessions that are valid. */
export async function findOpenSessions(
  db: ReadModels,
  sessionIds: readonly SessionId[],
): Promise<readonly OpenSession[]> {
  return await openSessions(db, sessionIds);
}

/** An SQL condition that session `s` of user `u` is valid. */
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

/** The data of a session that its user may see. */
export interface SignedInSession {
  readonly session_id: string;
  readonly opened_at: Date;
  readonly refreshed_at: Date;
  /** IP address from which the session was opened. */
  readonly ip: string | null;
  readonly user_agent: string | null;
}

/** Returns at most 200 open sessions of a user, newest first.
 *  @param refreshedAfter a session that has not been refreshed since this time has expired */
export async function listOpenSessions(
  db: ReadModels,
  userId: UserId,
  refreshedAfter: Date,
): Promise<readonly SignedInSession[]> {
  return await sessionsOfUser(db, userId, refreshedAfter);
}

const sessionsOfIdentity = statement<{ readonly session_id: string }>(`
  SELECT session_id FROM sessions WHERE closed_at IS NULL AND identity @> $1::jsonb LIMIT 1000`);

/** Returns at most 1000 open sessions that were opened through an identity provider.
 *  @param identity the fields that must match */
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

/** Whether any of the user's 50 newest sessions was opened from the IP address. */
export async function hasSignedInFrom(
  db: ReadModels,
  userId: UserId,
  ip: string,
): Promise<boolean> {
  return (await recentSessionFrom(db, userId, ip)).length === 1;
}
