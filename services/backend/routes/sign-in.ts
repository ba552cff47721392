/** Opens and renews sessions. */
import {
  known,
  parseSessionId,
  parseUserId,
  type SessionId,
  type UserId,
} from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { getCredential } from '#infra/postgres/credentials.ts';
import { findOpenSession } from '#projections/sessions/queries.ts';
import { findUserByEmail } from '#projections/users/queries.ts';
import type { UsersTable } from '#projections/users/table.ts';
import { isSameOrigin } from '../http/client.ts';
import type { Call } from '../http/operation.ts';
import { isProblem, problem, type Problem } from '../http/problem.ts';
import {
  newRefreshToken,
  refreshTokenDays,
  refreshTokenIn,
  successorOf,
  type RefreshToken,
} from '../http/refresh-cookie.ts';
import { windowSeconds, type Admission } from '../login-throttle.ts';
import { isTooLong, maxPasswordBytes } from '../passwords.ts';
import type { Services } from '../services.ts';
import { accepted, positionHeader } from './outcome.ts';

export interface SignedIn {
  readonly accessToken: string;
  readonly refreshToken: RefreshToken;
  readonly position: Readonly<Record<string, string>>;
}

interface LoginCall extends Pick<Call, 'context' | 'ip' | 'header'> {
  readonly body: { readonly email: string; readonly password: string };
}

const wrong = 'The e-mail address or the password is wrong.';
const foreignPage = problem('forbidden', 'The request comes from a page of another site.');

/** Checks a password, slowly and evenly, and opens a session. */
export async function openSession(
  call: LoginCall,
  services: Services,
): Promise<SignedIn | Problem> {
  if (isForeignPage(call)) return foreignPage;
  const { password } = call.body;
  if (isTooLong(password)) return passwordTooLong;
  const email = call.body.email.trim().toLowerCase();
  const user = await findUserByEmail(services.readModels, email);
  const userId = user === undefined ? undefined : known(parseUserId, user.user_id);
  const admission = await services.throttle.admit({ email, userId, ip: call.ip }, () =>
    isRight(user, password, services),
  );
  if (admission.kind === 'throttled') return tooMany(admission);
  if (!admission.matches || user === undefined || userId === undefined) {
    return problem('unauthenticated', wrong, userId && { resource: `user-${userId}` });
  }
  return await open(userId, user.email, call.context, services);
}

async function isRight(
  user: UsersTable | undefined,
  password: string,
  { database, ids, passwords }: Services,
): Promise<boolean> {
  // Asked for an unknown user too, so that both take the same time.
  const hash = await getCredential(database, user?.credential_id ?? ids.next());
  const isMatch = await passwords.matches(password, hash);
  return isMatch && user?.disabled === false;
}

async function open(
  userId: UserId,
  email: string,
  context: CommandContext,
  { commands, ids, tokens }: Services,
): Promise<SignedIn | Problem> {
  const sessionId = known(parseSessionId, ids.next());
  const refreshToken = newRefreshToken(sessionId);
  const outcome = accepted(
    await commands.execute(
      { type: 'OpenSession', sessionId, userId, refreshHash: refreshToken.hash },
      { ...context, actor: { kind: 'user', userId, email } },
    ),
  );
  if (isProblem(outcome)) return outcome;
  const accessToken = await tokens.issue(userId, sessionId);
  return { accessToken, refreshToken, position: positionHeader(outcome) };
}

const ended = problem('unauthenticated', 'The session has ended: sign in again.');

/** Trades the refresh token of the cookie. One that was traded before gets the same
 *  successor for a few seconds, and ends the session after. */
export async function refreshSession(
  call: Pick<Call, 'context' | 'header' | 'secure'>,
  services: Services,
): Promise<SignedIn | Problem> {
  if (isForeignPage(call)) return foreignPage;
  const presented = refreshTokenIn(call.header('Cookie'), call.secure);
  if (presented === undefined) return ended;
  const { sessionId } = presented;
  const owner = await ownerOf(sessionId, services);
  if (owner === undefined) return ended;
  const next = successorOf(presented, services.tokenKey);
  const outcome = accepted(
    await services.commands.execute(
      {
        type: 'RefreshSession',
        sessionId,
        presentedHash: presented.hash,
        nextHash: next.hash,
        at: services.clock.now().toISOString(),
      },
      { ...call.context, actor: { kind: 'user', ...owner } },
    ),
  );
  if (isProblem(outcome)) return ended;
  if (outcome.events.some((event) => event.type === 'SessionClosed')) {
    return { ...ended, resource: `session-${sessionId}` };
  }
  const accessToken = await services.tokens.issue(owner.userId, sessionId);
  return { accessToken, refreshToken: next, position: positionHeader(outcome) };
}

async function ownerOf(
  sessionId: SessionId,
  { readModels, clock }: Services,
): Promise<{ userId: UserId; email: string } | undefined> {
  const session = await findOpenSession(readModels, sessionId);
  if (session === undefined) return undefined;
  const ageMs = clock.now().getTime() - session.refreshed_at.getTime();
  if (ageMs > refreshTokenDays * 24 * 60 * 60 * 1000) return undefined;
  return { userId: known(parseUserId, session.user_id), email: session.email };
}

function isForeignPage({ header }: Pick<Call, 'header'>): boolean {
  return !isSameOrigin(header('Origin'), header('Host'));
}

const passwordTooLong = problem('validation_failed', 'The password is too long.', {
  errors: [
    {
      pointer: '/password',
      detail: `has more than ${maxPasswordBytes} bytes`,
    },
  ],
});

export function tooMany({
  retryAfterSeconds,
  limit,
}: Extract<Admission, { kind: 'throttled' }>): Problem {
  return problem('rate_limited', 'Too many sign-ins have failed. Try again later.', {
    headers: {
      'Retry-After': String(retryAfterSeconds),
      RateLimit: `"login";r=0;t=${retryAfterSeconds}`,
      'RateLimit-Policy': `"login";q=${limit};w=${windowSeconds}`,
    },
  });
}
