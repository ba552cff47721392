import type { Role } from '#domain/kernel/actor.ts';
import type { SessionId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

/** A sign-in that still counts, with its owner as of now. */
export interface OpenSession {
  readonly session_id: string;
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly group_ids: readonly string[];
  readonly can_audit: boolean;
}

/** The session, unless it was closed or its account has ended it: by another password, or by having been
 *  disabled, whatever it is now. */
export async function findOpenSession(
  db: ReadModels,
  sessionId: SessionId,
): Promise<OpenSession | undefined> {
  const [session] = await openSessions(db, [sessionId]);
  return session;
}

/** Those of the sessions that still count. */
export async function findOpenSessions(
  db: ReadModels,
  sessionIds: readonly SessionId[],
): Promise<readonly OpenSession[]> {
  return await openSessions(db, sessionIds);
}

/** Of a session `s` and its user `u`. */
export const stillCounts = `s.closed_at IS NULL AND NOT u.disabled
  AND (s.account_version = u.access_version OR s.session_id = u.kept_session_id)`;

const openSessions = statement<OpenSession>(`
  SELECT s.session_id, u.user_id, u.email, u.name, u.role, u.group_ids, u.can_audit
  FROM sessions s JOIN users u USING (user_id)
  WHERE s.session_id = ANY($1::uuid[]) AND ${stillCounts}`);
