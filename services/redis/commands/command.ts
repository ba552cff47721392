/** COMMAND, with which client libraries list the supported commands. */
import { noKeys, textOf, type Answer, type Call, type Command } from '../command.ts';
import { failure, map, status, type Reply } from '../resp/replies.ts';

/** @param all returns all supported commands; called when COMMAND runs, because the result contains COMMAND itself */
export function commandCommand(all: () => ReadonlyMap<string, Command>): Command {
  return {
    name: 'command',
    arity: -1,
    flags: ['loading', 'stale'],
    keys: noKeys,
    access: 'member',
    run: (call) => answer(call, all()),
  };
}

function answer({ args: [subcommand, ...args] }: Call, all: ReadonlyMap<string, Command>): Answer {
  if (subcommand === undefined) return [...all.values()].map(described);
  const names = args.map((one) => textOf(one).toLowerCase());
  switch (textOf(subcommand).toLowerCase()) {
    case 'count':
      return all.size;
    case 'list':
      return [...all.keys()];
    case 'info':
      return (names.length === 0 ? [...all.keys()] : names).map((name) => {
        const command = all.get(name);
        return command === undefined ? { kind: 'no array' } : described(command);
      });
    case 'docs':
      return map(
        (names.length === 0 ? [...all.keys()] : names).flatMap((name) =>
          all.has(name) ? [[name, map([['summary', `Handles ${name.toUpperCase()}.`]])]] : [],
        ),
      );
    default:
      return failure(
        `ERR unknown subcommand '${textOf(subcommand).slice(0, 128)}'. Try COMMAND HELP.`,
      );
  }
}

function described({ name, arity, flags, keys: [first, last, step] }: Command): Reply {
  const words: Reply = { kind: 'set', items: flags.map(status) };
  return [name, arity, words, first, last, step];
}
