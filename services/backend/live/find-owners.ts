/** Looks up the current owners of sockets. */
import type { Principal } from '#domain/kernel/actor.ts';
import { findOpenSessions } from '#projections/sessions/queries.ts';
import { findLiveTokens } from '#projections/tokens/queries.ts';
import { principalOf, tokenPrincipal } from '#services/shared/principals.ts';
import type { Credential } from '../http/credentials/authentication.ts';
import type { Services } from '../services.ts';

/** The owner of a credential; undefined if it is no longer valid. */
export type OwnerOf = (credential: Credential) => Principal | undefined;

/** Looks up the credentials of all sockets in one batch. */
export async function ownersOf(
  sockets: readonly { readonly credential: Credential }[],
  { readModels, clock }: Pick<Services, 'readModels' | 'clock'>,
): Promise<OwnerOf> {
  const sessionIds = new Set(
    sockets.flatMap(({ credential: one }) => (one.kind === 'session' ? [one.sessionId] : [])),
  );
  const hashes = new Set(
    sockets.flatMap(({ credential: one }) => (one.kind === 'token' ? [one.hash] : [])),
  );
  const [sessions, tokens] = await Promise.all([
    sessionIds.size === 0 ? [] : findOpenSessions(readModels, [...sessionIds]),
    hashes.size === 0 ? [] : findLiveTokens(readModels, [...hashes], clock.now()),
  ]);
  const owners = new Map<string, Principal>([
    ...sessions.map((one) => [one.session_id, principalOf(one)] as const),
    ...tokens.map((one) => [one.token_hash, tokenPrincipal(one)] as const),
  ]);
  return (one) => owners.get(one.kind === 'session' ? one.sessionId : one.hash);
}
