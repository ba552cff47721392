/** Whose sockets they are, as of now. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { SessionId } from '#domain/kernel/ids.ts';
import { findOpenSessions } from '#projections/sessions/queries.ts';
import { principalOf } from '../http/authentication.ts';
import type { Services } from '../services.ts';

/** The owners by session; a session that has ended has none. */
export async function ownersOf(
  sockets: readonly { readonly sessionId: SessionId }[],
  { readModels }: Pick<Services, 'readModels'>,
): Promise<ReadonlyMap<string, Principal>> {
  const ids = [...new Set(sockets.map((one) => one.sessionId))];
  const open = await findOpenSessions(readModels, ids);
  return new Map(open.map((session) => [session.session_id, principalOf(session)]));
}
