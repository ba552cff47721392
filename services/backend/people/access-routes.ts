/** Manages the sessions and API tokens of other users, for administrators. */
import { oldestValid } from '#infra/postgres/access/session-tokens.ts';
import { listOpenSessions } from '#projections/sessions/queries.ts';
import { findUser } from '#projections/users/queries.ts';
import { endSessions } from '../access/end-sessions.ts';
import { SessionItems } from '../access/schema.ts';
import { tokensOf } from '../access/token-list.ts';
import { ApiTokenPage } from '../access/token-schema.ts';
import { sessionJson } from '../access/view.ts';
import { operation, type Operation } from '../http/operation.ts';
import { notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters } from '../http/schema.ts';
import { onePage } from '../http/paging.ts';

const tag = 'Users';
const access = { right: 'users.manage' } as const;
const parameters = { user_id: pathParameters.userId };

const sessions = operation({
  method: 'get',
  path: '/api/v1/users/{user_id}/sessions',
  operationId: 'listUserSessions',
  summary: 'List the sessions of a user, newest first',
  description:
    'To end one session, call `DELETE /auth/sessions/{session_id}`. To end all of them, call `DELETE` on ' +
    'this list.',
  tag,
  access,
  parameters,
  responses: { 200: { description: 'The sessions.', schema: SessionItems } },
  handle: async ({ parameters: { user_id: userId } }, { readModels, clock }) => {
    if ((await findUser(readModels, userId)) === undefined) return notFound;
    const rows = await listOpenSessions(readModels, userId, oldestValid(clock.now()));
    return json(200, { items: rows.map((row) => sessionJson(row)) });
  },
});

const endAll = operation({
  method: 'delete',
  path: '/api/v1/users/{user_id}/sessions',
  operationId: 'revokeUserSessions',
  summary: 'End all sessions of a user; their tokens stop working immediately',
  description:
    'Closes the WebSockets of the sessions. The password and API tokens stay valid. For your own ' +
    'account, the current session also ends.',
  tag,
  access,
  parameters,
  responses: { 204: { description: 'The sessions were ended.', headers: ['Orch-Position'] } },
  handle: async ({ parameters: { user_id: userId }, context }, services) => {
    if ((await findUser(services.readModels, userId)) === undefined) return notFound;
    return await endSessions({ userId }, context, services);
  },
});

const tokens = operation({
  method: 'get',
  path: '/api/v1/users/{user_id}/tokens',
  operationId: 'listUserTokens',
  summary: 'List the API tokens of a user, newest first, without their values',
  description: 'To revoke a token, call `DELETE /auth/tokens/{token_id}`.',
  tag,
  access,
  parameters,
  query: Exact(pageQuery),
  responses: onePage(ApiTokenPage),
  handle: async ({ parameters: { user_id: userId }, query, url }, { readModels }) => {
    if ((await findUser(readModels, userId)) === undefined) return notFound;
    return await tokensOf(userId, { ...query, url }, readModels);
  },
});

export const userAccessOperations: readonly Operation[] = [sessions, endAll, tokens];
