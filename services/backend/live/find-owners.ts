/** Looks up the current owners of sockets. */
import { mustParse, parseSessionId } from '#domain/kernel/ids.ts';
import { findOpenSessions } from '#projections/sessions/queries.ts';
import { findLiveTokens } from '#projections/tokens/queries.ts';
import { tokenPrincipal } from '#services/shared/principals.ts';
import {
  identityOfSession,
  type Credential,
  type Identity,
} from '../http/credentials/authentication.ts';
import type { Services } from '../services.ts';

/** Returns the owner of a credential; undefined if the credential is no longer valid. */
export type OwnerOf = (credential: Credential) => Omit<Identity, 'credential'> | undefined;

/** Looks up the owners of all sockets in one batch. */
export async function ownersOf(
  sockets: readonly { readonly credential: Credential }[],
  services: Pick<Services, 'readModels' | 'clock' | 'secondFactorRoles'>,
): Promise<OwnerOf> {
  const { readModels, clock } = services;
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
  const owners = new Map<string, Omit<Identity, 'credential'>>([
    ...sessions.map((one) => {
      const sessionId = mustParse(parseSessionId, one.session_id);
      return [sessionId, identityOfSession(sessionId, one, services)] as const;
    }),
    ...tokens.map((one) => [one.token_hash, { principal: tokenPrincipal(one) }] as const),
  ]);
  return (one) => owners.get(one.kind === 'session' ? one.sessionId : one.hash);
}
