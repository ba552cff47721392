/** Manages user accounts, for administrators. */
import { randomBytes } from 'node:crypto';
import { mustParse, parseGroupId, parseUserId, type GroupId } from '#domain/kernel/ids.ts';
import type { CreateUser } from '#domain/user/commands.ts';
import { putCredential } from '#infra/postgres/access/credentials.ts';
import { listGroups } from '#projections/groups/queries.ts';
import { findUser, listUsers, type UserView } from '#projections/users/queries.ts';
import { passwordProblem } from '#services/shared/password-rules.ts';
import type { Static } from 'typebox';
import { User } from '../access/schema.ts';
import { userJson } from '../access/view.ts';
import { needsSession } from '../http/exchange.ts';
import { operation, type Call, type Operation } from '../http/operation.ts';
import {
  type Accepted,
  accepted,
  noContent,
  positionHeader,
  refusalProblem,
  writtenId,
} from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply, onePage } from '../http/paging.ts';
import { atParameter } from '../http/point-in-time.ts';
import { isProblem, notFound, badField, problem, type Problem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters } from '../http/schema.ts';
import { aboutPastLists, listAt, replyAt } from '../replay/resource-at.ts';
import type { Services } from '../services.ts';
import { changePassword, unusablePassword } from './change-password.ts';
import { NewPassword, NewUser, UserChange, UserPage } from './schema.ts';

const tag = 'Users';

const aboutTokens =
  'API tokens cannot set passwords. They also cannot create or change administrators and auditors, or ' +
  'grant these roles.';

const aboutLogins =
  "With `at`, `last_login_at` is `null`, because sign-ins are not part of the account's history.";

const list = operation({
  method: 'get',
  path: '/api/v1/users',
  operationId: 'listUsers',
  summary: 'List accounts, newest first, optionally at a point in time',
  description: `${aboutPastLists} ${aboutLogins}`,
  tag,
  access: { right: 'users.manage' },
  query: Exact({ ...pageQuery, at: atParameter }),
  responses: onePage(UserPage),
  handle: async ({ principal, query, url }, services) => {
    if (query.at !== undefined) {
      const { at, limit, cursor } = query;
      return await listAt('users', { principal, at, url, limit, cursor }, services);
    }
    const request = { list: 'users', filter: null, url, limit: query.limit, cursor: query.cursor };
    const after = keyOf(request, parseUserId);
    if (isProblem(after)) return after;
    const rows = await listUsers(services.readModels, after.key, (query.limit ?? defaultLimit) + 1);
    return pageReply(request, rows, (row) => row.user_id, userJson);
  },
});

const create = operation({
  method: 'post',
  path: '/api/v1/users',
  operationId: 'createUser',
  summary: 'Create an account',
  description:
    'Without a password, the user cannot sign in until an administrator sets one. ' + aboutTokens,
  tag,
  access: { right: 'users.manage' },
  creates: true,
  body: {
    schema: NewUser,
    example: {
      email: 'ada@example.com',
      password: 'correct horse battery staple',
      name: 'Ada',
      role: 'developer',
      group_ids: ['01900000-0000-7000-8000-000000000004'],
    },
  },
  responses: {
    201: {
      description: 'The account was created.',
      schema: User,
      headers: ['Location', 'Orch-Position'],
    },
  },
  refusals: ['already_exists'],
  handle: async (call, services) => {
    const { role, can_audit: canAudit = false, password } = call.body;
    if (call.principal.token !== undefined) {
      if (password !== undefined) return needsSession;
      if (isPowerful({ role, can_audit: canAudit })) return needsSession;
    }
    const created = await createUser(call, services);
    if (isProblem(created)) return created;
    return json(201, userJson(created.user), {
      Location: `/api/v1/users/${created.user.user_id}`,
      ...positionHeader(created.outcome),
    });
  },
});

/** Whether only a signed-in user may create or change the account. Otherwise, the holder of an API token could gain
 *  access that outlives the token. */
function isPowerful({ role, can_audit }: Pick<UserView, 'role' | 'can_audit'>): boolean {
  return role === 'administrator' || can_audit;
}

/** Creates an account. Hashes and stores the password after all checks. */
async function createUser(
  { body, context }: Pick<Call, 'context'> & { readonly body: Static<typeof NewUser> },
  { commands, database, ids, passwords, readModels }: Services,
): Promise<{ readonly user: UserView; readonly outcome: Accepted } | Problem> {
  const unusable = body.password === undefined ? undefined : passwordProblem(body.password, body);
  if (unusable !== undefined) return unusablePassword('/password', unusable);
  const groupIds = (body.group_ids ?? []).map((id) => mustParse(parseGroupId, id));
  const unknown = await unknownGroups(groupIds, readModels);
  if (unknown.length > 0) return badField('group_ids', `group not found: ${unknown.join(', ')}`);
  const email = body.email.toLowerCase();
  const command: CreateUser = {
    type: 'CreateUser',
    userId: mustParse(parseUserId, ids.next()),
    email,
    name: body.name ?? email.slice(0, email.indexOf('@')),
    role: body.role,
    groupIds,
    canAudit: body.can_audit ?? false,
    credentialId: ids.next(),
  };
  const refusal = await commands.check(command);
  if (refusal !== undefined) return refusalProblem(refusal);
  await putCredential(
    database,
    command.credentialId,
    await passwords.hash(body.password ?? noPassword()),
  );
  const outcome = accepted(await commands.execute(command, context));
  if (isProblem(outcome)) return outcome;
  const userId = writtenId(outcome, parseUserId);
  const user = await findUser(readModels, userId);
  if (user === undefined) throw new Error('a created account is not in the read model');
  return { user, outcome };
}

/** Sets a random password that is never shown. */
const noPassword = () => randomBytes(32).toString('base64');

async function unknownGroups(
  groupIds: readonly GroupId[],
  db: Services['readModels'],
): Promise<readonly GroupId[]> {
  const found = await listGroups(db, groupIds, undefined, groupIds.length);
  const existing = new Set<string>(found.map((group) => group.group_id));
  return groupIds.filter((id) => !existing.has(id));
}

const parameters = { user_id: pathParameters.userId };

const get = operation({
  method: 'get',
  path: '/api/v1/users/{user_id}',
  operationId: 'getUser',
  summary: 'Read an account, now or at a point in time',
  description: aboutLogins,
  tag,
  access: { right: 'users.manage' },
  parameters,
  query: Exact({ at: atParameter }),
  responses: { 200: { description: 'The account.', schema: User } },
  handle: async ({ principal, parameters: { user_id: userId }, query: { at } }, services) => {
    if (at !== undefined) return await replyAt('users', { principal, at, id: userId }, services);
    const user = await findUser(services.readModels, userId);
    return user === undefined ? notFound : json(200, userJson(user));
  },
});

const change = operation({
  method: 'patch',
  path: '/api/v1/users/{user_id}',
  operationId: 'changeUser',
  summary: 'Change, disable or enable an account',
  description:
    'Takes effect immediately, including for open sessions, WebSockets and API tokens. Disabling an ' +
    'account ends its sessions permanently. Its API tokens are rejected until the account is enabled ' +
    'again. At least one administrator is required. ' +
    aboutTokens,
  tag,
  access: { right: 'users.manage' },
  parameters,
  body: {
    schema: UserChange,
    example: { role: 'operator' },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: {
    200: { description: 'The updated resource.', schema: User, headers: ['Orch-Position'] },
  },
  refusals: ['last_administrator'],
  handle: async ({ principal, parameters: { user_id: userId }, body, context }, services) => {
    const { name, role, group_ids: named, can_audit: canAudit, disabled } = body;
    if (principal.token !== undefined) {
      const present = await findUser(services.readModels, userId);
      if (present === undefined) return notFound;
      const wanted = { role: role ?? present.role, can_audit: canAudit ?? present.can_audit };
      if (isPowerful(present) || isPowerful(wanted)) return needsSession;
    }
    const groupIds = named?.map((id) => mustParse(parseGroupId, id));
    const unknown = await unknownGroups(groupIds ?? [], services.readModels);
    if (unknown.length > 0) return badField('group_ids', `group not found: ${unknown.join(', ')}`);
    const changes = {
      ...(name !== undefined && { name }),
      ...(role !== undefined && { role }),
      ...(groupIds !== undefined && { groupIds }),
      ...(canAudit !== undefined && { canAudit }),
      ...(disabled !== undefined && { disabled }),
    };
    const command = { type: 'ChangeUser', userId, changes } as const;
    const outcome = accepted(await services.commands.execute(command, context));
    if (isProblem(outcome)) return outcome;
    const user = await findUser(services.readModels, userId);
    return user === undefined ? notFound : json(200, userJson(user), positionHeader(outcome));
  },
});

const resetPassword = operation({
  method: 'post',
  path: '/api/v1/users/{user_id}/password',
  operationId: 'resetPassword',
  summary: 'Set the password of an account',
  description: 'Ends the sessions of the account; its API tokens stay valid.',
  tag,
  access: { right: 'users.manage', session: true },
  parameters,
  body: { schema: NewPassword, example: { password: 'correct horse battery staple' } },
  responses: { 204: { description: 'The password was changed.', headers: ['Orch-Position'] } },
  handle: async ({ parameters: { user_id: userId }, body, context }, services) => {
    const user = await findUser(services.readModels, userId);
    if (user === undefined) return notFound;
    return noContent(await changePassword({ user, password: body.password }, context, services));
  },
});

const ownFactor = problem(
  'forbidden',
  'Disable your own second factor on your account page, with your password and a code.',
);

const resetFactor = operation({
  method: 'delete',
  path: '/api/v1/users/{user_id}/second-factor',
  operationId: 'resetSecondFactor',
  summary: 'Disable the second factor of another account',
  description:
    'Use this if a user has lost the authenticator app and the recovery codes. The password and open ' +
    'sessions stay valid.',
  tag,
  access: { right: 'users.manage', session: true },
  parameters,
  responses: { 204: { description: 'The second factor is disabled.', headers: ['Orch-Position'] } },
  handle: async ({ principal, parameters: { user_id: userId }, context }, { commands, vault }) => {
    // Administrators cannot reset their own second factor, because a stolen session would then suffice to remove it.
    if (userId === principal.userId) return ownFactor;
    const reply = noContent(
      await commands.execute({ type: 'DisableSecondFactor', userId }, context),
    );
    await vault.destroyUnusedKey(userId);
    return reply;
  },
});

export const userOperations: readonly Operation[] = [
  list,
  create,
  get,
  change,
  resetPassword,
  resetFactor,
];
