/** Opens and renews sessions. */
import { mustParse, parseSessionId, parseUserId, type UserId } from '#domain/kernel/ids.ts';
import type { SessionIdentity } from '#domain/session/events.ts';
import { getCredential } from '#infra/postgres/access/credentials.ts';
import { storeFirstToken, exchangeToken } from '#infra/postgres/access/session-tokens.ts';
import { findUserByEmail } from '#projections/users/queries.ts';
import type { UsersTable } from '#projections/users/table.ts';
import { isTooLong, maxPasswordBytes } from '#services/shared/passwords.ts';
import type { Call } from '../http/operation.ts';
import { accepted, positionHeader } from '../http/outcome.ts';
import { isProblem, problem, type Problem } from '../http/problem.ts';
import { isOwnPage } from '../http/wire/client.ts';
import type { Services } from '../services.ts';
import { windowSeconds, type Admission } from './login-throttle.ts';
import type { PasskeySignature } from './second-factor/passkey-schema.ts';
import { checkPasskey } from './second-factor/passkeys.ts';
import { isRightCode } from './second-factor/second-factor.ts';
import {
  newRefreshToken,
  refreshTokensIn,
  successorOf,
  type RefreshToken,
} from './refresh-cookie.ts';
import { newSessionKey, parseSessionKey, tokenOfKey } from './session-key.ts';

export interface Renewed {
  readonly accessToken: string;
  readonly refreshToken: RefreshToken;
}

export interface SignedIn extends Renewed {
  /** The session key, which only this response contains. */
  readonly sessionKey: string;
  readonly position: Readonly<Record<string, string>>;
}

interface LoginCall extends Pick<Call, 'context' | 'ip' | 'header' | 'headers' | 'origin'> {
  readonly body: {
    readonly email: string;
    readonly password: string;
    readonly code?: string;
    /** A passkey signature, as an alternative to the code. */
    readonly passkey?: PasskeySignature;
  };
}

/** Number of stored characters of the `User-Agent` header. */
const maxUserAgent = 300;
const wrong = 'Incorrect email address or password.';
/** The response to requests from pages of other origins. Such a page must not be able to set, use or renew a session
 *  cookie. */
export const foreignPage: Problem = problem(
  'forbidden',
  'The request comes from a page with a different origin.',
);

const codeMissing = problem(
  'second_factor_required',
  'Use a passkey, or enter a code from your authenticator app or a recovery code.',
);
const codeWrong = problem(
  'second_factor_required',
  'The code is incorrect or was already used. Enter the current code, or a recovery code.',
);

const passwordsDisabled = problem(
  'forbidden',
  'Only administrators can sign in with a password. Sign in with your identity provider.',
);

/** Checks a password in constant time, then the second factor, and opens a session. */
export async function openSession(
  call: LoginCall,
  services: Services,
): Promise<SignedIn | Problem> {
  const user = await admitUser(call, services, (owner) => factorProblem(owner, call, services));
  if (isProblem(user)) return user;
  if (services.passwordSignIn === 'administrators' && user.role !== 'administrator') {
    return { ...passwordsDisabled, resource: `user-${user.user_id}` };
  }
  return await openSessionOf({ user }, call, services);
}

/** Checks a password like a sign-in, but without the second factor. A correct password does not reset the count of
 *  failed sign-ins. */
export async function checkPassword(
  call: Pick<LoginCall, 'body' | 'headers' | 'ip'>,
  services: Services,
): Promise<SignInUser | Problem> {
  let user: SignInUser | undefined;
  const refusal = await admitUser(call, services, async (owner) => {
    user = owner;
    return await Promise.resolve({ result: 'incomplete', problem: codeMissing });
  });
  return user ?? refusal;
}

type SignInUser = UsersTable & { readonly user_id: UserId };

/** The problem with the second factor, such as a missing code; `undefined` if none exists. */
type FactorProblem =
  | { readonly result: 'wrong' | 'incomplete'; readonly problem: Problem }
  | undefined;

async function factorProblem(
  user: SignInUser,
  { body: { code, passkey }, context, origin }: LoginCall,
  services: Services,
): Promise<FactorProblem> {
  const { second_factor: factor } = user;
  if (factor === null) return undefined;
  const owner = { ...user, second_factor: factor };
  if (passkey !== undefined) {
    const reason = await checkPasskey(owner, passkey, { origin, context, services });
    if (reason === undefined) return undefined;
    const refused = problem('second_factor_required', `The passkey ${reason}.`);
    return { result: 'wrong', problem: refused };
  }
  if (code === undefined) return { result: 'incomplete', problem: codeMissing };
  const isCode = await isRightCode(owner, code, { context, services });
  return isCode ? undefined : { result: 'wrong', problem: codeWrong };
}

/** Checks a password, unless too many sign-ins have failed. If the password is correct, also calls `check`.
 *  @returns the account, or the problem to send */
async function admitUser(
  { body, headers, ip }: Pick<LoginCall, 'body' | 'headers' | 'ip'>,
  services: Services,
  check: (user: SignInUser) => Promise<FactorProblem>,
): Promise<SignInUser | Problem> {
  if (!isOwnPage(headers)) return foreignPage;
  const { password } = body;
  if (isTooLong(password)) return passwordTooLong;
  const email = body.email.trim().toLowerCase();
  const found = await findUserByEmail(services.readModels, email);
  const userId = found === undefined ? undefined : mustParse(parseUserId, found.user_id);
  const resource = userId && { resource: `user-${userId}` };
  let refusal: Problem = problem('unauthenticated', wrong, resource);
  const admission = await services.throttle.admit({ email, userId, ip }, async () => {
    const isPassword = await isRight(found, password, services);
    if (!isPassword || found === undefined || userId === undefined) return 'wrong';
    const missing = await check({ ...found, user_id: userId });
    if (missing === undefined) return 'right';
    refusal = { ...missing.problem, ...resource };
    return missing.result;
  });
  if (admission.kind === 'throttled') return tooMany(admission);
  if (admission.result !== 'right' || found === undefined || userId === undefined) return refusal;
  return { ...found, user_id: userId };
}

async function isRight(
  user: UsersTable | undefined,
  password: string,
  { database, ids, passwords }: Services,
): Promise<boolean> {
  // Unknown users are compared with a dummy hash, so that the response takes the same time.
  const hash = await getCredential(database, user?.credential_id ?? ids.next());
  const isMatch = await passwords.matches(password, hash);
  return isMatch && user?.disabled === false;
}

/** Opens a session for the account. `user` is the account row that was read before its password or identity was
 *  checked. If the account's sessions have been ended since then, the new session also ends. */
export async function openSessionOf(
  { user, identity }: { user: UsersTable & { user_id: UserId }; identity?: SessionIdentity },
  { context, header }: Pick<Call, 'context' | 'header'>,
  { commands, database, clock, ids, tokens }: Services,
): Promise<SignedIn | Problem> {
  const { user_id: userId, email, access_version: accountVersion } = user;
  const sessionId = mustParse(parseSessionId, ids.next());
  const refreshToken = newRefreshToken(sessionId);
  const key = newSessionKey();
  const hashes = { tokenHash: refreshToken.hash, keyHash: key.hash };
  await storeFirstToken(database, { sessionId, ...hashes }, clock.now());
  const userAgent = header('User-Agent')?.slice(0, maxUserAgent) ?? null;
  const outcome = accepted(
    await commands.execute(
      {
        type: 'OpenSession',
        sessionId,
        userId,
        accountVersion,
        userAgent,
        ...(identity && { identity }),
      },
      { ...context, actor: { kind: 'user', userId, email } },
    ),
  );
  if (isProblem(outcome)) return outcome;
  const accessToken = await tokens.issue(userId, sessionId);
  return { accessToken, refreshToken, sessionKey: key.text, position: positionHeader(outcome) };
}

const ended = problem('unauthenticated', 'The session has ended. Sign in again.');

/** Exchanges the refresh token in the cookie, together with the session key, for a new token. Repeating the request
 *  within a few seconds returns the same token. A later repeat ends the session. A cookie without the key has no
 *  effect, because browsers also send the cookie to other programs on the host. Such a program must not be able to
 *  sign the user out. */
export async function refreshSession(
  call: Pick<Call, 'context' | 'header' | 'headers' | 'secure'>,
  services: Services,
): Promise<Renewed | Problem> {
  if (!isOwnPage(call.headers)) return foreignPage;
  const sent = refreshTokensIn(call.header('Cookie'), call.secure);
  const key = parseSessionKey(call.header('Orch-Session-Key'));
  const presented = await tokenOfKey(services.database, sent, key);
  const { sessionId } = presented ?? sent[0] ?? {};
  const session = sessionId && (await services.findSession(sessionId));
  if (session === undefined || sessionId === undefined) return ended;
  const resource = `session-${sessionId}`;
  if (presented === undefined) return { ...ended, resource };
  const userId = mustParse(parseUserId, session.user_id);
  const next = successorOf(presented, services.tokenKey);
  const traded = await exchangeToken(services.database, {
    sessionId,
    presentedHash: presented.hash,
    nextHash: next.hash,
    now: services.clock.now(),
  });
  if (traded === 'expired') return ended;
  if (traded === 'reused') {
    const actor = { kind: 'user', userId, email: session.email } as const;
    const command = { type: 'CloseSession', sessionId, reason: 'refresh_reused' } as const;
    await services.commands.execute(command, { ...call.context, actor });
    return { ...ended, resource };
  }
  const accessToken = await services.tokens.issue(userId, sessionId);
  return { accessToken, refreshToken: next };
}

const passwordTooLong = problem('validation_failed', 'The password is too long.', {
  errors: [
    {
      pointer: '/password',
      detail: `is longer than ${maxPasswordBytes} bytes`,
    },
  ],
});

export function tooMany({
  retryAfterSeconds,
  limit,
}: Extract<Admission, { kind: 'throttled' }>): Problem {
  return problem('rate_limited', 'Too many failed sign-ins. Try again later.', {
    headers: {
      'Retry-After': String(retryAfterSeconds),
      RateLimit: `"login";r=0;t=${retryAfterSeconds}`,
      'RateLimit-Policy': `"login";q=${limit};w=${windowSeconds}`,
    },
  });
}
