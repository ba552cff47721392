import type { Role } from '#domain/kernel/actor.ts';
import type { SessionId } from '#domain/kernel/ids.ts';
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';

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
  return await openSessions(db).where('sessions.session_id', '=', sessionId).executeTakeFirst();
}

/** Those of the sessions that still count. */
export async function findOpenSessions(
  db: ReadModels,
  sessionIds: readonly SessionId[],
): Promise<readonly OpenSession[]> {
  return await openSessions(db)
    .where(sql<boolean>`sessions.session_id = ANY(${sessionIds}::uuid[])`)
    .execute();
}

function openSessions(db: ReadModels) {
  return db
    .selectFrom('sessions')
    .innerJoin('users', 'users.user_id', 'sessions.user_id')
    .select(['sessions.session_id', 'sessions.refresh_hash', 'sessions.refreshed_at'])
    .select(['users.user_id', 'users.email', 'users.name', 'users.role', 'users.group_ids'])
    .select('users.can_audit')
    .where('sessions.closed_at', 'is', null)
    .where('users.disabled', '=', false);
}
