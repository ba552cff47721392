/** Authenticates a bearer token. Each request looks up the token's session and user, so that a sign-out or a changed
 *  role takes effect immediately. API tokens are also looked up on each request. */
import type { Principal, Role } from '#domain/kernel/actor.ts';
import { mustParse, parseTokenId, type SessionId, type TokenId } from '#domain/kernel/ids.ts';
import type { OpenSession } from '#projections/sessions/queries.ts';
import type { LiveToken } from '#projections/tokens/queries.ts';
import { apiTokenHash } from '#services/shared/api-tokens.ts';
import { principalOf, tokenPrincipal } from '#services/shared/principals.ts';
import { problem, type Problem } from '../problem.ts';
import type { AccessTokens } from './access-tokens.ts';

/** A valid credential. */
export type Credential =
  | { readonly kind: 'session'; readonly sessionId: SessionId }
  | { readonly kind: 'token'; readonly hash: string };

export interface Identity {
  readonly principal: Principal;
  readonly credential: Credential;
  /** Whether the role requires a second factor and the session was opened without one. */
  readonly mustSetUpFactor?: boolean;
}

export interface AuthenticationDeps {
  readonly tokens: AccessTokens;
  readonly findSession: (id: SessionId) => Promise<OpenSession | undefined>;
  readonly secondFactorRoles: readonly Role[];
  /** Looks up an API token by its hash. */
  readonly findToken: (hash: string) => Promise<LiveToken | undefined>;
  readonly tokenUses: { note(tokenId: TokenId): void };
}

export const unauthenticated: Problem = problem(
  'unauthenticated',
  'The token is missing, invalid, expired or revoked. Sign in again.',
);

/** Authenticates the user by the `Authorization` header. */
export async function authenticate(
  authorization: string | undefined,
  deps: AuthenticationDeps,
): Promise<Identity | Problem> {
  const token = /^bearer ([\w.~+/=-]+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) return unauthenticated;
  return (await identityOfToken(token, deps)) ?? unauthenticated;
}

/** The current user of an access token or an API token. */
export async function identityOfToken(
  token: string,
  deps: AuthenticationDeps,
): Promise<Identity | undefined> {
  const hash = apiTokenHash(token);
  if (hash !== undefined) return await identityOfApiToken(hash, deps);
  const claims = await deps.tokens.verify(token);
  if (claims === undefined) return undefined;
  const { sessionId, userId } = claims;
  const session = await deps.findSession(sessionId);
  if (session?.user_id !== userId) return undefined;
  return identityOfSession(sessionId, session, deps);
}

/** The identity of a valid session. */
export function identityOfSession(
  sessionId: SessionId,
  session: OpenSession,
  { secondFactorRoles }: Pick<AuthenticationDeps, 'secondFactorRoles'>,
): Identity {
  return {
    credential: { kind: 'session', sessionId },
    principal: principalOf(session),
    mustSetUpFactor: session.is_single_factor && secondFactorRoles.includes(session.role),
  };
}

async function identityOfApiToken(
  hash: string,
  { findToken, tokenUses }: AuthenticationDeps,
): Promise<Identity | undefined> {
  const token = await findToken(hash);
  if (token === undefined) return undefined;
  tokenUses.note(mustParse(parseTokenId, token.token_id));
  return { credential: { kind: 'token', hash }, principal: tokenPrincipal(token) };
}
