/** Passes a request to its command, if the client may use the command. */
import { randomUUID } from 'node:crypto';
import type { Logger } from '#services/shared/logger.ts';
import { isDatabaseAway } from '#infra/postgres/database-away.ts';
import { may, missing, type Caller, type Callers } from './callers.ts';
import { textOf, type Answer, type Command } from './command.ts';
import type { Connection } from './connection.ts';
import type { Refusals } from './refusals.ts';
import { failure, type ErrorReply } from './resp/replies.ts';
import type { Request } from './resp/requests.ts';
import { subscriptionCount } from './session.ts';
import { executeQueued, queue } from './transaction.ts';

export interface DispatchDeps {
  readonly commands: ReadonlyMap<string, Command>;
  readonly callers: Callers;
  readonly refusals: Refusals;
  readonly logger: Logger;
}

/** Words at the start of lines in an HTTP request. A web page can make a browser send such a request to any port. */
const ofBrowsers = new Set(['post', 'host:']);

/** Executes a request. It never throws, because errors become replies. */
export async function dispatch(
  request: Request,
  connection: Connection,
  deps: DispatchDeps,
): Promise<Answer> {
  return await execute(request, connection, deps, false);
}

async function execute(
  request: Request,
  connection: Connection,
  deps: DispatchDeps,
  inTransaction: boolean,
): Promise<Answer> {
  try {
    return await serve(request, connection, deps, inTransaction);
  } catch (error) {
    const traceId = randomUUID();
    const client = connection.session.id;
    deps.logger.error({ error, traceId, client }, 'command failed');
    return isDatabaseAway(error)
      ? failure('ERR unavailable: a required service is unavailable; try again in a moment')
      : failure(`ERR internal_error: an internal error occurred; see trace ${traceId} in the log`);
  }
}

async function serve(
  request: Request,
  connection: Connection,
  deps: DispatchDeps,
  inTransaction: boolean,
): Promise<Answer> {
  const { session, signal } = connection;
  const [first, ...args] = request;
  const name = textOf(first).toLowerCase();
  if (ofBrowsers.has(name)) {
    connection.close();
    return null;
  }
  const { transaction } = session;
  const admitted = await admit(request, connection, deps);
  if ('kind' in admitted) {
    if (transaction !== undefined) transaction.isBroken = true;
    return admitted;
  }
  const { command, caller } = admitted;
  if (transaction !== undefined && command.transaction !== 'immediate') {
    return queue(request, command, transaction);
  }
  if (name === 'exec' && transaction !== undefined) {
    session.transaction = undefined;
    return await executeQueued(transaction, session, (queued) =>
      execute(queued, connection, deps, true),
    );
  }
  const call = { args, session, signal, inTransaction };
  if (command.access === 'anyone' || command.access === 'member') return await command.run(call);
  return caller === undefined ? expired : await command.run({ ...call, caller });
}

interface Admitted {
  readonly command: Command;
  /** The caller, or undefined if the command requires no right. */
  readonly caller: Caller | undefined;
}

const expired = failure('NOAUTH The token has expired or was revoked.');

/** Checks that the client may use the command and that the arguments are valid. */
async function admit(
  request: Request,
  { session }: Connection,
  { commands, callers, refusals }: DispatchDeps,
): Promise<Admitted | ErrorReply> {
  const [first, ...args] = request;
  const name = textOf(first).toLowerCase();
  const command = commands.get(name);
  const { credential } = session;
  if (credential === undefined && command?.access !== 'anyone') {
    return failure('NOAUTH Authentication required.');
  }
  if (command === undefined) return unknown(textOf(first), args);
  const { arity, access } = command;
  if (arity < 0 ? request.length < -arity : request.length !== arity) {
    return failure(`ERR wrong number of arguments for '${name}' command`);
  }
  if (session.protocol === 2 && subscriptionCount(session) > 0 && !command.whileSubscribed) {
    return failure(
      `ERR Can't execute '${name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context`,
    );
  }
  if (access === 'anyone' || access === 'member') return { command, caller: undefined };
  const caller = credential && (await callers.callerOf(credential));
  if (caller === undefined) {
    session.isEnding = true;
    return expired;
  }
  if (!may(caller, access)) {
    const detail = `${name.toUpperCase()} is not allowed: ${missing(access)}`;
    return refusals.refused({ session, caller, name, code: 'forbidden', resource: null }, detail);
  }
  return { command, caller };
}

function unknown(name: string, args: readonly Buffer[]): ErrorReply {
  const shown = args
    .map((arg) => `'${textOf(arg).slice(0, 128)}' `)
    .join('')
    .slice(0, 128);
  return failure(`ERR unknown command '${name.slice(0, 128)}', with args beginning with: ${shown}`);
}
