/** Who opens a WebSocket: a ticket in the address, a token as subprotocol or header, or the dashboard's
 *  cookie. */
import type { IncomingMessage } from 'node:http';
import { principalOf } from '#services/shared/principals.ts';
import { authenticate, identityOfToken, type Identity } from '../http/authentication.ts';
import { isSameOrigin, isSecure } from '../http/client.ts';
import { isProblem } from '../http/problem.ts';
import { isSameHash, refreshTokenDays, refreshTokenIn } from '../http/refresh-cookie.ts';
import { findOpenSession } from '#projections/sessions/queries.ts';
import type { Services } from '../services.ts';
import { redeemTicket } from '../stores/ws-tickets.ts';

const bearer = 'orch.bearer.';
export const subprotocol = 'orch.v1';

/** What is answered of the subprotocols that a client offers. A client that offers its token alone
 *  gets it back: it would take no other answer. */
export function chosenProtocol(offered: ReadonlySet<string>): string | false {
  if (offered.has(subprotocol)) return subprotocol;
  return [...offered].find((one) => one.startsWith(bearer)) ?? false;
}

export interface Credentials {
  /** The subprotocols of the request. */
  readonly offered: readonly string[];
  /** Where there is one, it alone counts. */
  readonly ticket: string | undefined;
}

/** Uses up the ticket, where there is one. */
export async function identify(
  request: IncomingMessage,
  { offered, ticket }: Credentials,
  services: Services,
): Promise<Identity | undefined> {
  if (ticket !== undefined) return await identityOfTicket(ticket, services);
  const token = offered.find((one) => one.startsWith(bearer))?.slice(bearer.length);
  if (token !== undefined) return await identityOfToken(token, services);
  if (request.headers.authorization !== undefined) {
    const identity = await authenticate(request.headers.authorization, services);
    return isProblem(identity) ? undefined : identity;
  }
  return await identityOfCookie(request, services);
}

async function identityOfTicket(
  ticket: string,
  { database, findSession }: Services,
): Promise<Identity | undefined> {
  const sessionId = await redeemTicket(database, ticket);
  const session = sessionId && (await findSession(sessionId));
  return session === undefined || sessionId === undefined
    ? undefined
    : { credential: { kind: 'session', sessionId }, principal: principalOf(session) };
}

/** Browsers send the cookie whatever page opens the socket: the page must be of this site. */
async function identityOfCookie(
  request: IncomingMessage,
  { readModels, clock, trustedProxies }: Services,
): Promise<Identity | undefined> {
  const { origin, host, cookie } = request.headers;
  if (origin === undefined || !isSameOrigin(origin, host)) return undefined;
  const token = refreshTokenIn(cookie, isSecure(request, trustedProxies));
  const session = token && (await findOpenSession(readModels, token.sessionId));
  if (session === undefined || !isSameHash(session.refresh_hash, token?.hash ?? ''))
    return undefined;
  const ageMs = clock.now().getTime() - session.refreshed_at.getTime();
  if (token === undefined || ageMs > refreshTokenDays * 24 * 60 * 60 * 1000) return undefined;
  const credential = { kind: 'session', sessionId: token.sessionId } as const;
  return { credential, principal: principalOf(session) };
}
