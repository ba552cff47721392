/** PUBSUB, which lists the subscriptions of this process. */
import { may } from '../callers.ts';
import { noKeys, textOf, type Answer, type Command, type MemberCall } from '../command.ts';
import { channels, type Channel, type Hub } from '../channels/hub.ts';
import { globMatches } from '../resp/glob.ts';
import { failure, pairs, type Reply } from '../resp/replies.ts';

const maxPatternBytes = 1024;

export function pubsubCommand({ hub }: { readonly hub: Hub }): Command {
  return {
    name: 'pubsub',
    arity: -2,
    flags: ['pubsub', 'loading', 'stale'],
    keys: noKeys,
    access: 'groups.read',
    run: (call) => answer(call, hub),
  };
}

function answer({ args: [subcommand, ...args], caller }: MemberCall, hub: Hub): Answer {
  const name = textOf(subcommand).toLowerCase();
  // Other channel names are not served: subscriptions to them exist, but no messages are published.
  const served = (Object.keys(channels) as Channel[]).filter((one) => may(caller, channels[one]));
  const counts = (countOf: (channel: string) => number): Reply =>
    pairs(args.map((one) => [one, countOf(one.toString('latin1'))]));
  const shown = textOf(subcommand).slice(0, 128);
  const tooMany = failure(
    `ERR unknown subcommand or wrong number of arguments for '${shown}'. Try PUBSUB HELP.`,
  );
  const wrong = failure(`ERR wrong number of arguments for 'pubsub|${name}' command`);
  switch (name) {
    case 'channels': {
      if (args.length > 1) return tooMany;
      const pattern = args[0]?.toString('latin1') ?? '*';
      if (pattern.length > maxPatternBytes) return failure('ERR the pattern is too long');
      return served.filter((one) => hub.subscribers(one) > 0 && globMatches(pattern, one));
    }
    case 'numsub':
      return counts((one) => (served.some((known) => known === one) ? hub.subscribers(one) : 0));
    case 'numpat':
      return args.length === 0 ? hub.patterns() : wrong;
    case 'shardchannels':
      return args.length > 1 ? tooMany : [];
    case 'shardnumsub':
      return counts(() => 0);
    default:
      return failure(`ERR unknown subcommand '${shown}'. Try PUBSUB HELP.`);
  }
}
