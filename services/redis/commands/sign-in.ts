/** HELLO, AUTH, and the commands that end or reset a connection. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Callers } from '../callers.ts';
import { noKeys, textOf, upper, type Answer, type Call, type Command } from '../command.ts';
import type { Refusals } from '../refusals.ts';
import { failure, map, ok, status, type ErrorReply } from '../resp/replies.ts';
import { resetSession, type Session } from '../session.ts';
import { redisVersion } from '../version.ts';
import { clientName } from './client.ts';

/** The number of failed attempts after which the connection is closed. */
const maxAttempts = 5;
const afterFailureMs = 200;

export interface SignInDeps {
  readonly callers: Callers;
  readonly refusals: Refusals;
}

export function signInCommands(deps: SignInDeps): readonly Command[] {
  const attempts = new WeakMap<Session, number>();

  /** @returns the error reply, or `undefined` after a successful sign-in */
  const signIn = async (session: Session, secret: Buffer): Promise<ErrorReply | undefined> => {
    const credential = await deps.callers.credentialOf(secret);
    if (credential !== undefined) {
      session.credential = credential;
      return undefined;
    }
    const failed = (attempts.get(session) ?? 0) + 1;
    attempts.set(session, failed);
    session.isEnding = failed >= maxAttempts;
    await pause(afterFailureMs);
    const turned = { session, caller: undefined, name: 'auth', resource: null } as const;
    const detail = 'invalid username-password pair or user is disabled.';
    return deps.refusals.refused({ ...turned, code: 'unauthenticated' }, detail);
  };

  return [
    {
      name: 'auth',
      transaction: 'refused',
      arity: -2,
      flags: ['noscript', 'loading', 'stale', 'fast', 'no_auth', 'allow_busy'],
      keys: noKeys,
      access: 'anyone',
      run: async ({ args, session }) => {
        const secret = args.at(-1);
        if (args.length > 2 || secret === undefined) return failure('ERR syntax error');
        return (await signIn(session, secret)) ?? ok;
      },
    },
    {
      name: 'hello',
      transaction: 'refused',
      arity: -1,
      flags: ['noscript', 'loading', 'stale', 'fast', 'no_auth', 'allow_busy'],
      keys: noKeys,
      access: 'anyone',
      run: (call) => hello(call, signIn),
    },
    {
      name: 'quit',
      transaction: 'immediate',
      arity: -1,
      flags: ['noscript', 'loading', 'stale', 'fast', 'no_auth', 'allow_busy'],
      keys: noKeys,
      access: 'anyone',
      whileSubscribed: true,
      run: ({ session }) => {
        session.isEnding = true;
        return ok;
      },
    },
    {
      name: 'reset',
      transaction: 'immediate',
      arity: 1,
      flags: ['noscript', 'loading', 'stale', 'fast', 'no_auth', 'allow_busy'],
      keys: noKeys,
      access: 'anyone',
      whileSubscribed: true,
      run: ({ session }) => {
        resetSession(session);
        return status('RESET');
      },
    },
  ];
}

async function hello(
  { args, session }: Call,
  signIn: (session: Session, secret: Buffer) => Promise<ErrorReply | undefined>,
): Promise<Answer> {
  const [wanted, ...options] = args;
  if (wanted !== undefined && !/^-?\d{1,10}$/.test(textOf(wanted))) {
    return failure('ERR Protocol version is not an integer or out of range');
  }
  const protocol = wanted === undefined ? session.protocol : Number(textOf(wanted));
  if (protocol !== 2 && protocol !== 3) return failure('NOPROTO unsupported protocol version');
  let secret: Buffer | undefined;
  let name: string | undefined;
  for (let at = 0; at < options.length;) {
    const option = upper(options[at]);
    if (option === 'AUTH' && at + 2 < options.length) {
      secret = options[at + 2];
      at += 3;
    } else if (option === 'SETNAME' && at + 1 < options.length) {
      name = clientName(options[at + 1]);
      if (name === undefined) return badName;
      at += 2;
    } else {
      return failure(`ERR Syntax error in HELLO option '${textOf(options[at]).slice(0, 64)}'`);
    }
  }
  if (secret !== undefined) {
    const problem = await signIn(session, secret);
    if (problem !== undefined) return problem;
  }
  if (name !== undefined) session.name = name;
  session.protocol = protocol;
  return map([
    ['server', 'orchestrator'],
    ['version', redisVersion],
    ['proto', protocol],
    ['id', session.id],
    ['mode', 'standalone'],
    ['role', 'master'],
    ['modules', []],
  ]);
}

const badName = failure('ERR Client names cannot contain spaces, newlines or special characters.');
