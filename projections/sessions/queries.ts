import type { Role } from '#domain/kernel/actor.ts';
import type { SessionId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';

/** A sign-in that still counts, with its owner as of now. */
export interface OpenSession {
  readonly session_id: string;
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
  return await db
    .selectFrom('sessions')
    .innerJoin('users', 'users.user_id', 'sessions.user_id')
    .select(['sessions.session_id', 'sessions.refreshed_at', 'users.user_id', 'users.email'])
    .select(['users.name', 'users.role', 'users.group_ids', 'users.can_audit'])
    .where('sessions.session_id', '=', sessionId)
    .where('sessions.closed_at', 'is', null)
    .where('users.disabled', '=', false)
    .executeTakeFirst();
}
