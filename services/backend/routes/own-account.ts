/** What people do with their own account: where they are signed in, and their password. */
import {
  known,
  parseCommandId,
  parseSessionId,
  type SessionId,
  type UserId,
} from '#domain/kernel/ids.ts';
import { mayAnywhere } from '#domain/kernel/rights.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { getCredential, putCredential } from '#infra/postgres/credentials.ts';
import { findOpenSession } from '#projections/sessions/queries.ts';
import { findUser } from '#projections/users/queries.ts';
import { operation, type Operation } from '../http/operation.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import { refreshTokenDays } from '../http/refresh-cookie.ts';
import { json, nothing } from '../http/reply.ts';
import { isTooLong, maxPasswordBytes } from '../passwords.ts';
import { pathParameters } from '../schemas/common.ts';
import { OwnPassword, SessionItems } from '../schemas/people.ts';
import type { Services } from '../services.ts';
import { listOpenSessions } from '../stores/open-sessions.ts';
import { badField } from './new-script.ts';
import { accepted, positionHeader, type Accepted } from './outcome.ts';
import { tooMany } from './sign-in.ts';

const tag = 'Authentication';
const dayMs = 24 * 60 * 60 * 1000;
/** More than anybody looks at. */
const maxSessions = 200;

const list = operation({
  method: 'get',
  path: '/api/v1/auth/sessions',
  operationId: 'listSessions',
  summary: 'List where you are signed in, the newest first',
  tag,
  access: 'session',
  responses: { 200: { description: 'Your sessions.', schema: SessionItems } },
  handle: async ({ principal, sessionId }, services) => {
    const sessions = await openSessions(principal.userId, services);
    return json(200, {
      items: sessions.map(({ session_id: id, ...times }) => ({
        id,
        current: id === sessionId,
        ...times,
      })),
    });
  },
});

const revoke = operation({
  method: 'delete',
  path: '/api/v1/auth/sessions/{session_id}',
  operationId: 'revokeSession',
  summary: 'End one of your sessions: its tokens stop working at once',
  description: 'Its WebSockets are closed. Administrators may end the sessions of others.',
  tag,
  access: 'session',
  parameters: { session_id: pathParameters.sessionId },
  responses: { 204: { description: 'Ended.', headers: ['Orch-Position'] } },
  handle: async ({ principal, parameters: { session_id: sessionId }, context }, services) => {
    const session = await findOpenSession(services.readModels, sessionId);
    const isOwn = session?.user_id === principal.userId;
    if (session === undefined || !(isOwn || mayAnywhere(principal, 'users.manage'))) {
      return notFound;
    }
    const command = { type: 'RevokeSession', sessionId } as const;
    const outcome = accepted(await services.commands.execute(command, context));
    return isProblem(outcome) ? outcome : nothing(204, positionHeader(outcome));
  },
});

const ownPassword = operation({
  method: 'post',
  path: '/api/v1/auth/password',
  operationId: 'changePassword',
  summary: 'Change your password',
  description:
    'Your other sessions end; your API tokens stay. Failures count as those of sign-ins.',
  tag,
  access: 'session',
  body: {
    schema: OwnPassword,
    example: { current_password: 'a good password', new_password: 'correct horse battery staple' },
  },
  responses: { 204: { description: 'It is the password now.', headers: ['Orch-Position'] } },
  refusals: ['rate_limited'],
  handle: async ({ principal, sessionId, body, ip, context }, services) => {
    const { userId } = principal;
    const user = await findUser(services.readModels, userId);
    if (user === undefined) throw new Error('a session belongs to nobody');
    const { current_password: current, new_password: password } = body;
    const admission = await services.throttle.admit(
      { email: user.email, userId, ip },
      async () =>
        !isTooLong(current) &&
        (await services.passwords.matches(
          current,
          await getCredential(services.database, user.credential_id),
        )),
    );
    if (admission.kind === 'throttled') return tooMany(admission);
    if (!admission.matches) return badField('current_password', 'it is not your password');
    const outcome = await changePassword({ userId, password, keep: sessionId }, context, services);
    return isProblem(outcome) ? outcome : nothing(204, positionHeader(outcome));
  },
});

interface PasswordChange {
  readonly userId: UserId;
  readonly password: string;
  /** The session that goes on. */
  readonly keep?: SessionId;
}

/** Gives an account another password. Sessions end before, so that none outlives it where this is
 *  interrupted, and again after it, for those that the old one opened meanwhile. */
export async function changePassword(
  { userId, password, keep }: PasswordChange,
  context: CommandContext,
  services: Services,
): Promise<Accepted | Problem> {
  if (isTooLong(password)) {
    return problem('validation_failed', `The password has more than ${maxPasswordBytes} bytes.`);
  }
  const { commands, database, ids, passwords } = services;
  const credentialId = ids.next();
  await putCredential(database, credentialId, await passwords.hash(password));
  await endSessions(userId, keep, context, services);
  const command = { type: 'ChangeUserPassword', userId, credentialId } as const;
  const outcome = accepted(await commands.execute(command, context));
  if (!isProblem(outcome)) await endSessions(userId, keep, context, services);
  return outcome;
}

async function endSessions(
  userId: UserId,
  keep: SessionId | undefined,
  context: CommandContext,
  services: Services,
): Promise<void> {
  const open = await openSessions(userId, services);
  const others = open.filter((one) => one.session_id !== keep);
  for (const { session_id: id } of others) {
    const sessionId = known(parseSessionId, id);
    const command = { type: 'RevokeSession', sessionId } as const;
    // A command of its own: the request's id is that of the change of the password.
    const commandId = services.ids.derived(context.commandId, `ends ${id}`);
    await services.commands.execute(command, {
      ...context,
      commandId: known(parseCommandId, commandId),
    });
  }
  if (open.length === maxSessions) await endSessions(userId, keep, context, services);
}

async function openSessions(userId: UserId, { database, clock }: Services) {
  const since = new Date(clock.now().getTime() - refreshTokenDays * dayMs);
  return await listOpenSessions(database, userId, since, maxSessions);
}

export const ownAccountOperations: readonly Operation[] = [list, revoke, ownPassword];
