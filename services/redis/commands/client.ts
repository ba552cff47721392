/** CLIENT and other commands that client libraries send for setup and introspection. */
import { noKeys, textOf, upper, type Answer, type Call, type Command } from '../command.ts';
import { failure, ok, push, status, type Reply } from '../resp/replies.ts';
import { subscriptionCount, type Session } from '../session.ts';
import { redisVersion } from '../version.ts';

/** Parses a client name. Only printable characters without spaces are permitted, because lists show the name. */
export function clientName(argument: Buffer | undefined): string | undefined {
  const text = argument?.toString('latin1') ?? '';
  return /^[!-~]{0,256}$/.test(text) ? text : undefined;
}

export interface ServerFigures {
  readonly now: () => Date;
  readonly startedAt: Date;
  readonly connectedClients: () => number;
  readonly port: () => number;
}

export function clientCommands(figures: ServerFigures): readonly Command[] {
  return [
    {
      name: 'ping',
      arity: -1,
      flags: ['fast'],
      keys: noKeys,
      access: 'anyone',
      whileSubscribed: true,
      run: ping,
    },
    {
      name: 'echo',
      arity: 2,
      flags: ['loading', 'stale', 'fast'],
      keys: noKeys,
      access: 'member',
      run: ({ args: [text] }) => text ?? '',
    },
    {
      name: 'time',
      arity: 1,
      flags: ['loading', 'stale', 'fast'],
      keys: noKeys,
      access: 'member',
      run: () => {
        const ms = figures.now().getTime();
        return [String(Math.floor(ms / 1000)), String((ms % 1000) * 1000)];
      },
    },
    {
      name: 'client',
      arity: -2,
      flags: ['noscript', 'loading', 'stale'],
      keys: noKeys,
      access: 'member',
      run: client,
    },
    {
      name: 'select',
      arity: 2,
      flags: ['loading', 'stale', 'fast'],
      keys: noKeys,
      access: 'member',
      run: ({ args: [index] }) => {
        if (!/^-?\d{1,10}$/.test(textOf(index))) {
          return failure('ERR value is not an integer or out of range');
        }
        return Number(textOf(index)) === 0 ? ok : failure('ERR DB index is out of range');
      },
    },
    {
      name: 'info',
      arity: -1,
      flags: ['loading', 'stale'],
      keys: noKeys,
      access: 'member',
      run: ({ args }) => ({ kind: 'text', text: info(args.map(textOf), figures) }),
    },
  ];
}

function ping({ args: [text, ...others], session }: Call): Answer {
  if (others.length > 0) return failure("ERR wrong number of arguments for 'ping' command");
  if (session.protocol === 2 && subscriptionCount(session) > 0) return push('pong', text ?? '');
  return text ?? status('PONG');
}

function client({ args: [subcommand, ...args], session }: Call): Answer {
  const name = textOf(subcommand).toLowerCase();
  const wrong = failure(`ERR wrong number of arguments for 'client|${name}' command`);
  const needs = (count: number, answer: () => Reply): Reply =>
    args.length === count ? answer() : wrong;
  switch (name) {
    case 'id':
      return needs(0, () => session.id);
    case 'getname':
      return needs(0, () => (session.name === '' ? null : session.name));
    case 'setname':
      return needs(1, () => setName(session, args[0]));
    case 'setinfo':
      return needs(2, () => setInfo(session, args));
    case 'info':
      return needs(0, () => ({ kind: 'text', text: `${described(session)}\n` }));
    case 'list':
      return { kind: 'text', text: `${described(session)}\n` };
    case 'no-evict':
    case 'no-touch':
      return needs(1, () => (['ON', 'OFF'].includes(upper(args[0])) ? ok : syntaxError));
    case 'reply':
      return needs(1, () => (upper(args[0]) === 'ON' ? ok : syntaxError));
    default:
      return failure(
        `ERR unknown subcommand '${textOf(subcommand).slice(0, 128)}'. Try CLIENT HELP.`,
      );
  }
}

const syntaxError = failure('ERR syntax error');

function setName(session: Session, argument: Buffer | undefined): Reply {
  const name = clientName(argument);
  if (name === undefined) {
    return failure('ERR Client names cannot contain spaces, newlines or special characters.');
  }
  Object.assign(session, { name });
  return ok;
}

function setInfo(session: Session, [what, argument]: readonly Buffer[]): Reply {
  const value = clientName(argument);
  const { library } = session;
  switch (upper(what)) {
    case 'LIB-NAME':
      if (value === undefined) return badInfo('lib-name');
      Object.assign(library, { name: value });
      return ok;
    case 'LIB-VER':
      if (value === undefined) return badInfo('lib-ver');
      Object.assign(library, { version: value });
      return ok;
    default:
      return failure(`ERR Unrecognized option '${textOf(what).slice(0, 64)}'`);
  }
}

function badInfo(name: string): Reply {
  return failure(`ERR ${name} cannot contain spaces, newlines or special characters.`);
}

function described(session: Session): string {
  const { id, ip, port, name, since, channels, patterns, protocol, library } = session;
  const age = Math.floor((Date.now() - since.getTime()) / 1000);
  return (
    `id=${id} addr=${ip}:${port} name=${name} age=${age} db=0 sub=${channels.size} ` +
    `psub=${patterns.size} resp=${protocol} lib-name=${library.name} lib-ver=${library.version}`
  );
}

/** Returns sections of INFO in the format that clients parse: a heading followed by `name:value` lines. */
function info(wanted: readonly string[], { startedAt, connectedClients, port }: ServerFigures) {
  const uptime = Math.floor((Date.now() - startedAt.getTime()) / 1000);
  const sections: Readonly<Record<string, readonly string[]>> = {
    Server: [
      `redis_version:${redisVersion}`,
      'redis_mode:standalone',
      'server_name:orchestrator',
      `process_id:${process.pid}`,
      `tcp_port:${port()}`,
      `uptime_in_seconds:${uptime}`,
    ],
    Clients: [`connected_clients:${connectedClients()}`],
    Persistence: ['loading:0'],
    Replication: ['role:master', 'connected_slaves:0'],
    Cluster: ['cluster_enabled:0'],
  };
  const names = wanted.map((one) => one.toLowerCase());
  const isAll =
    names.length === 0 || names.some((one) => ['all', 'default', 'everything'].includes(one));
  return Object.entries(sections)
    .filter(([name]) => isAll || names.includes(name.toLowerCase()))
    .map(([name, lines]) => `# ${name}\r\n${lines.join('\r\n')}\r\n`)
    .join('\r\n');
}
