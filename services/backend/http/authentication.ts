/** Who asks: a bearer token, whose session and owner are looked up anew at every request, so that a
 *  log-out or a changed role counts at once. */
import type { Principal } from '#domain/kernel/actor.ts';
import { known, parseGroupId, parseUserId, type SessionId } from '#domain/kernel/ids.ts';
import type { OpenSession } from '#projections/sessions/queries.ts';
import { problem, type Problem } from './problem.ts';
import type { AccessTokens } from './tokens.ts';

export interface Identity {
  readonly principal: Principal;
  readonly sessionId: SessionId;
}

export interface AuthenticationParts {
  readonly tokens: AccessTokens;
  readonly findSession: (id: SessionId) => Promise<OpenSession | undefined>;
}

export const unauthenticated: Problem = problem(
  'unauthenticated',
  'Sign in: the token is missing, expired, revoked or not valid.',
);

/** Takes an `Authorization` header to a person. */
export async function authenticate(
  authorization: string | undefined,
  parts: AuthenticationParts,
): Promise<Identity | Problem> {
  const token = /^bearer ([\w.~+/=-]+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) return unauthenticated;
  return (await identityOfToken(token, parts)) ?? unauthenticated;
}

/** The person whom an access token names, as of now. */
export async function identityOfToken(
  token: string,
  { tokens, findSession }: AuthenticationParts,
): Promise<Identity | undefined> {
  const claims = await tokens.verify(token);
  if (claims === undefined) return undefined;
  const { sessionId, userId } = claims;
  const session = await findSession(sessionId);
  if (session?.user_id !== userId) return undefined;
  return { sessionId, principal: principalOf(session) };
}

export function principalOf(session: OpenSession): Principal {
  return {
    userId: known(parseUserId, session.user_id),
    email: session.email,
    name: session.name,
    role: session.role,
    groupIds: session.group_ids.map((id) => known(parseGroupId, id)),
    canAudit: session.can_audit,
  };
}
