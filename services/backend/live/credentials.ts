/** Authenticates a WebSocket by a ticket in the URL, a token in a subprotocol or header, or the dashboard's cookie
 *  plus a session key in a subprotocol. */
import type { IncomingMessage } from 'node:http';
import { isCurrentToken } from '#infra/postgres/access/session-tokens.ts';
import { redeemTicket } from '#infra/postgres/access/ws-tickets.ts';
import { refreshTokensIn } from '../access/refresh-cookie.ts';
import { parseSessionKey, tokenOfKey } from '../access/session-key.ts';
import {
  authenticate,
  identityOfSession,
  identityOfToken,
  type Identity,
} from '../http/credentials/authentication.ts';
import { isProblem } from '../http/problem.ts';
import { isOwnPage, isSecure } from '../http/wire/client.ts';
import type { Services } from '../services.ts';

const bearer = 'orch.bearer.';
const sessionKey = 'orch.session.';
export const subprotocol = 'orch.v1';

/** The subprotocol of the response. If the client offers only a subprotocol with its token, the response repeats
 *  this subprotocol, because the client accepts no other. */
export function chosenProtocol(offered: ReadonlySet<string>): string | false {
  if (offered.has(subprotocol)) return subprotocol;
  return [...offered].find((one) => one.startsWith(bearer)) ?? false;
}

export interface Credentials {
  /** The subprotocols in the request. */
  readonly offered: readonly string[];
  /** A ticket takes precedence over other credentials. */
  readonly ticket: string | undefined;
}

/** Authenticates the client, and redeems a ticket. */
export async function identify(
  request: IncomingMessage,
  { offered, ticket }: Credentials,
  services: Services,
): Promise<Identity | undefined> {
  if (ticket !== undefined) return await identityOfTicket(ticket, services);
  const token = offeredAs(bearer, offered);
  if (token !== undefined) return await identityOfToken(token, services);
  if (request.headers.authorization !== undefined) {
    const identity = await authenticate(request.headers.authorization, services);
    return isProblem(identity) ? undefined : identity;
  }
  return await identityOfCookie(request, offeredAs(sessionKey, offered), services);
}

function offeredAs(prefix: string, offered: readonly string[]): string | undefined {
  return offered.find((one) => one.startsWith(prefix))?.slice(prefix.length);
}

async function identityOfTicket(ticket: string, services: Services): Promise<Identity | undefined> {
  const sessionId = await redeemTicket(services.database, ticket);
  const session = sessionId && (await services.findSession(sessionId));
  return session === undefined || sessionId === undefined
    ? undefined
    : identityOfSession(sessionId, session, services);
}

/** Browsers send the cookie with WebSocket requests from any page, and to other programs on the host. The page must
 *  therefore have this origin and the session key. */
async function identityOfCookie(
  request: IncomingMessage,
  key: string | undefined,
  services: Services,
): Promise<Identity | undefined> {
  const { database, clock, trustedProxies } = services;
  const { origin, cookie } = request.headers;
  if (origin === undefined || !isOwnPage(request.headers)) return undefined;
  const tokens = refreshTokensIn(cookie, isSecure(request, trustedProxies));
  const token = await tokenOfKey(database, tokens, parseSessionKey(key));
  if (token === undefined || !(await isCurrentToken(database, token, clock.now())))
    return undefined;
  const { sessionId } = token;
  const session = await services.findSession(sessionId);
  return session && identityOfSession(sessionId, session, services);
}
