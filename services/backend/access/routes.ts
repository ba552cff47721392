/** Signs users in and out (specification §5). */
import { hasRightAnywhere, rights, type Right } from '#domain/kernel/rights.ts';
import { issueTicket } from '#infra/postgres/access/ws-tickets.ts';
import { settledEnd } from '#infra/postgres/event-store/changed-streams.ts';
import { countUnread } from '#projections/notices/queries.ts';
import { triggerState } from '#projections/trigger-state/queries.ts';
import { findUser } from '#projections/users/queries.ts';
import { accessTokenSeconds } from '../http/credentials/access-tokens.ts';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, positionHeader } from '../http/outcome.ts';
import { isProblem } from '../http/problem.ts';
import { json, nothing, type Reply } from '../http/reply.ts';
import { isOwnPage } from '../http/wire/client.ts';
import { cookieOf, noCookie } from './refresh-cookie.ts';
import { SessionTokens, AccessToken, WsTicket, Credentials, Me } from './schema.ts';
import { foreignPage, openSession, refreshSession, type Renewed } from './sign-in.ts';
import { userJson } from './view.ts';
import { Exact } from '../http/schema.ts';
import { visibleGroups } from './visibility.ts';

const tag = 'Authentication';

function tokenReply(
  { accessToken, refreshToken }: Renewed,
  secure: boolean,
  more: { readonly body?: object; readonly headers?: Readonly<Record<string, string>> } = {},
): Reply {
  const body = { access_token: accessToken, token_type: 'bearer', expires_in: accessTokenSeconds };
  const headers = { 'Set-Cookie': cookieOf(refreshToken, secure), ...more.headers };
  return json(200, { ...body, ...more.body }, headers);
}

const login = operation({
  method: 'post',
  path: '/api/v1/auth/login',
  operationId: 'login',
  summary: 'Sign in with an email address and a password',
  description:
    'The access token is valid for 15 minutes. Browsers also get a refresh token in a cookie, valid for ' +
    '14 days. The cookie is accepted only together with `session_key`, which is returned in this ' +
    'response only. Send it as `Orch-Session-Key` when you refresh, and store it where pages of other ' +
    'origins cannot read it. After 5 failed attempts for an account, or 20 from an IP address, within 5 ' +
    'minutes, further attempts are rejected with 429. An IP address that the account has signed in from ' +
    'before has its own limit, so failures elsewhere never lock out the owner. If the account has a ' +
    'second factor, a request without `code` returns 401 with `second_factor_required`; repeat it ' +
    'with `code`.',
  tag,
  access: 'public',
  body: {
    schema: Credentials,
    example: { email: 'ada@example.com', password: 'correct horse battery staple' },
  },
  responses: {
    200: {
      description: 'Signed in.',
      schema: SessionTokens,
      headers: ['Set-Cookie', 'Orch-Position'],
    },
  },
  refusals: ['unauthenticated', 'second_factor_required', 'rate_limited', 'forbidden'],
  handle: async (call, services) => {
    const signedIn = await openSession(call, services);
    if (isProblem(signedIn)) return signedIn;
    const body = { session_key: signedIn.sessionKey };
    return tokenReply(signedIn, call.secure, { body, headers: signedIn.position });
  },
});

const refresh = operation({
  method: 'post',
  path: '/api/v1/auth/refresh',
  operationId: 'refreshToken',
  summary: 'Exchange the refresh token in the cookie for new tokens',
  description:
    'Requires the cookie and the `session_key` of the session. Sending only one of them returns 401 and ' +
    'changes nothing. Each refresh token can be used once. Reusing an old refresh token ends the ' +
    'session. For 10 seconds, the most recently used refresh token returns the same response again, so ' +
    'that parallel tabs and lost responses do not end the session.',
  tag,
  access: 'public',
  requestHeaders: ['Orch-Session-Key'],
  body: { schema: Exact({}), example: {}, optional: true },
  responses: {
    200: { description: 'New tokens.', schema: AccessToken, headers: ['Set-Cookie'] },
  },
  refusals: ['unauthenticated', 'forbidden'],
  handle: async (call, services) => {
    const renewed = await refreshSession(call, services);
    if (isProblem(renewed)) return renewed;
    const { globalPosition: position } = await settledEnd(services.database);
    return tokenReply(renewed, call.secure, { body: { position } });
  },
});

const logout = operation({
  method: 'post',
  path: '/api/v1/auth/logout',
  operationId: 'logout',
  summary: 'Sign out and revoke the tokens of this session immediately',
  tag,
  access: 'session',
  allowsFactorSetUp: true,
  body: { schema: Exact({}), example: {}, optional: true },
  responses: { 204: { description: 'Signed out.', headers: ['Set-Cookie', 'Orch-Position'] } },
  refusals: ['forbidden'],
  handle: async (call, { commands }) => {
    if (!isOwnPage(call.headers)) return foreignPage;
    const { sessionId } = call;
    const outcome = accepted(
      await commands.execute({ type: 'CloseSession', sessionId, reason: 'logout' }, call.context),
    );
    if (isProblem(outcome)) return outcome;
    return nothing(204, { 'Set-Cookie': noCookie(call.secure), ...positionHeader(outcome) });
  },
});

const wsTicket = operation({
  method: 'post',
  path: '/api/v1/auth/ws-ticket',
  operationId: 'createWsTicket',
  summary: 'Create a ticket that opens one WebSocket',
  description:
    'For clients that can send neither headers nor subprotocols: `wss://…/ws?token=<ticket>`. A ticket ' +
    'can be used once, within 30 seconds, and authenticates as this session. A session can have at most ' +
    '20 unused tickets.',
  tag,
  access: 'session',
  body: { schema: Exact({}), example: {}, optional: true },
  responses: { 201: { description: 'The ticket, returned once.', schema: WsTicket } },
  handle: async ({ sessionId }, { database }) => {
    const { ticket, expiresAt } = await issueTicket(database, sessionId);
    return json(201, { ticket, expires_at: expiresAt });
  },
});

const me = operation({
  method: 'get',
  path: '/api/v1/auth/me',
  operationId: 'me',
  summary: 'Read your account and your rights',
  description: 'Also returns the number of unread notifications, and whether triggers are paused.',
  tag,
  access: 'signed-in',
  allowsFactorSetUp: true,
  responses: { 200: { description: 'Your account.', schema: Me } },
  handle: async ({ principal, mustSetUpFactor }, { readModels }) => {
    const held = (Object.keys(rights) as Right[]).filter((right) =>
      hasRightAnywhere(principal, right),
    );
    const mayRead = (right: Right) => held.includes(right) && !mustSetUpFactor;
    const inbox = { reader: principal.userId, groupIds: visibleGroups(principal) };
    const [user, unread, triggers] = await Promise.all([
      findUser(readModels, principal.userId),
      mayRead('notifications.read') ? countUnread(readModels, inbox) : 0,
      mayRead('system.read') ? triggerState(readModels) : undefined,
    ]);
    if (user === undefined) throw new Error(`signed-in user not found: ${principal.userId}`);
    return json(200, {
      ...userJson(user),
      rights: held,
      second_factor_missing: mustSetUpFactor,
      unread_notifications: unread,
      paused_triggers: triggers?.paused ? { since: triggers.since, by: triggers.changed_by } : null,
    });
  },
});

export const authOperations: readonly Operation[] = [login, refresh, logout, wsTicket, me];
