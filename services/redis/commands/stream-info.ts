/** XINFO, which describes the log of a run. Consumer groups are not supported. */
import { textOf, type Answer, type Command, type MemberCall } from '../command.ts';
import { parseKey, wrongType } from '../keys.ts';
import { entry, lastLinesOf, lengthOf, linesOf, visible, type LineDeps } from '../logs/lines.ts';
import { placeOf } from '../logs/places.ts';
import { failure, map } from '../resp/replies.ts';

export function streamInfoCommand(deps: LineDeps): Command {
  return {
    name: 'xinfo',
    arity: -2,
    flags: ['readonly'],
    keys: [2, 2, 1],
    access: 'runs.read',
    run: (call) => describeStream(call, deps),
  };
}

async function describeStream(call: MemberCall, deps: LineDeps): Promise<Answer> {
  const [subcommand, name, ...others] = call.args;
  const kind = textOf(subcommand).toLowerCase();
  if (!['stream', 'groups', 'consumers'].includes(kind)) {
    return failure(`ERR unknown subcommand '${textOf(subcommand).slice(0, 128)}'. Try XINFO HELP.`);
  }
  const isCounted = kind === 'consumers' ? others.length === 1 : others.length === 0;
  if (name === undefined || !isCounted) {
    return failure(`ERR wrong number of arguments for 'xinfo|${kind}' command`);
  }
  const key = parseKey(name);
  if (key.kind === 'jobs' || key.kind === 'lease') return wrongType;
  const [runId] = await visible([key], call.caller, deps);
  const length = runId === undefined ? 0 : await lengthOf(runId, deps);
  if (runId === undefined || length === 0) return failure('ERR no such key');
  if (kind === 'groups') return [];
  if (kind === 'consumers') {
    const group = textOf(others[0]).slice(0, 128);
    return failure(`NOGROUP No such consumer group '${group}' for key name '${textOf(name)}'`);
  }
  const ends = await Promise.all(
    [linesOf, lastLinesOf].map((read) =>
      read(runId, { from: 1, to: length, count: 1, bytes: Number.POSITIVE_INFINITY }, deps),
    ),
  );
  const [first, last] = ends.map((items) => (items?.[0] ? entry(items[0]) : null));
  return map([
    ['length', length],
    ['radix-tree-keys', 1],
    ['radix-tree-nodes', 2],
    ['last-generated-id', placeOf(length)],
    ['max-deleted-entry-id', '0-0'],
    ['entries-added', length],
    ['recorded-first-entry-id', placeOf(1)],
    ['groups', 0],
    ['first-entry', first ?? null],
    ['last-entry', last ?? null],
  ]);
}
