import type { Role } from '#domain/kernel/actor.ts';
import type { SessionId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

/** A sign-in that still counts, with its owner as of now. */
export interface OpenSession {
  readonly session_id: string;
  /** SHA-256 of the refresh token that is good now. */
  readonly refresh_hash: string;
  readonly refreshed_at: Date;
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly group_ids: readonly string[];
  readonly can_audit: boolean;
}

/** The session, unless it was closed or its owner disabled. */
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

const openSessions = statement<OpenSession>(`
  SELECT s.session_id, s.refresh_hash, s.refreshed_at, u.user_id, u.email, u.name, u.role, u.group_ids,
    u.can_audit
  FROM sessions s JOIN users u USING (user_id)
  WHERE s.session_id = ANY($1::uuid[]) AND s.closed_at IS NULL AND NOT u.disabled`);
