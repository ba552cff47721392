/** Manages the user's own sessions and password. */
import { hasRightAnywhere } from '#domain/kernel/rights.ts';
import { oldestValid } from '#infra/postgres/access/session-tokens.ts';
import { findOpenSession, listOpenSessions } from '#projections/sessions/queries.ts';
import { confirmIdentity } from '../access/confirm-identity.ts';
import { endSessions } from '../access/end-sessions.ts';
import { SessionItems } from '../access/schema.ts';
import { sessionJson } from '../access/view.ts';
import { operation, type Operation } from '../http/operation.ts';
import { noContent } from '../http/outcome.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { changePassword } from './change-password.ts';
import { OwnPassword } from './schema.ts';

const tag = 'Authentication';

const list = operation({
  method: 'get',
  path: '/api/v1/auth/sessions',
  operationId: 'listSessions',
  summary: 'List your sessions, newest first',
  tag,
  access: 'session',
  responses: { 200: { description: 'Your sessions.', schema: SessionItems } },
  handle: async ({ principal, sessionId }, services) => {
    const { readModels, clock } = services;
    const sessions = await listOpenSessions(readModels, principal.userId, oldestValid(clock.now()));
    return json(200, { items: sessions.map((one) => sessionJson(one, sessionId)) });
  },
});

const revoke = operation({
  method: 'delete',
  path: '/api/v1/auth/sessions/{session_id}',
  operationId: 'revokeSession',
  summary: 'End a session; its tokens stop working immediately',
  description:
    'Closes the WebSockets of the session. Administrators may end sessions of other users.',
  tag,
  access: 'session',
  parameters: { session_id: pathParameters.sessionId },
  responses: { 204: { description: 'The session was ended.', headers: ['Orch-Position'] } },
  handle: async ({ principal, parameters: { session_id: sessionId }, context }, services) => {
    const session = await findOpenSession(services.readModels, sessionId);
    const isOwn = session?.user_id === principal.userId;
    if (session === undefined || !(isOwn || hasRightAnywhere(principal, 'users.manage'))) {
      return notFound;
    }
    const command = { type: 'CloseSession', sessionId, reason: 'revoked' } as const;
    return noContent(await services.commands.execute(command, context));
  },
});

const revokeOthers = operation({
  method: 'delete',
  path: '/api/v1/auth/sessions',
  operationId: 'revokeOtherSessions',
  summary: 'End all your other sessions; their tokens stop working immediately',
  description: 'Your API tokens stay valid.',
  tag,
  access: 'session',
  responses: { 204: { description: 'The sessions were ended.', headers: ['Orch-Position'] } },
  handle: async ({ principal, sessionId, context }, services) =>
    await endSessions({ userId: principal.userId, keep: sessionId }, context, services),
});

const ownPassword = operation({
  method: 'post',
  path: '/api/v1/auth/password',
  operationId: 'changePassword',
  allowsFactorSetUp: true,
  summary: 'Change your password',
  description:
    'Ends your other sessions; your API tokens stay valid. Failed attempts count towards the sign-in ' +
    'limit.',
  tag,
  access: 'session',
  body: {
    schema: OwnPassword,
    example: { current_password: 'a good password', new_password: 'correct horse battery staple' },
  },
  responses: { 204: { description: 'The password was changed.', headers: ['Orch-Position'] } },
  refusals: ['rate_limited'],
  handle: async ({ principal, sessionId, body, ip, context, origin }, services) => {
    const { current_password: current, new_password: password } = body;
    const given = { password: current, code: false } as const;
    const user = await confirmIdentity(given, { principal, ip, context, origin }, services);
    if (isProblem(user)) return user;
    return noContent(await changePassword({ user, password, keep: sessionId }, context, services));
  },
});

export const ownAccountOperations: readonly Operation[] = [list, revoke, revokeOthers, ownPassword];
