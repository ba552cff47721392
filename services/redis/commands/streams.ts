/** The stream commands XADD, XLEN, XRANGE, XREVRANGE and XREAD, which access run logs. The ID of an entry consists of
 *  the line's `seq` and a zero, such as `12-0`. */
import type { RunId } from '#domain/kernel/ids.ts';
import type { Bus } from '#domain/ports/bus.ts';
import { oneKey, textOf, upper, type Answer, type Command, type MemberCall } from '../command.ts';
import type { Leases } from '../jobs/leases.ts';
import { integerOf, notAnInteger, parseKey, syntaxError, wrongType } from '../keys.ts';
import {
  entry,
  lastLinesOf,
  lengthOf,
  linesOf,
  sizeOf,
  visible,
  type LineDeps,
} from '../logs/lines.ts';
import { parsePlace, placeOf } from '../logs/places.ts';
import type { LeasedLogs } from '../logs/leased-logs.ts';
import { failure, noArray, streams, type ErrorReply, type Reply } from '../resp/replies.ts';
import { afterOrGone } from '../waiting.ts';

/** Polls in addition to bus messages, which may be lost. */
const pollEveryMs = 1_000;
const maxStreams = 64;
const maxReplyBytes = 4 * 1024 * 1024;

export interface StreamDeps extends LineDeps {
  readonly leases: Leases;
  readonly leasedLogs: LeasedLogs;
  readonly bus: Bus;
}

const tooLarge = failure('ERR the reply exceeds 4 MiB; limit it with COUNT');
const badId = failure('ERR Invalid stream ID specified as stream command argument');

export function streamCommands(deps: StreamDeps): readonly Command[] {
  const read = { flags: ['readonly'], keys: oneKey } as const;
  return [
    {
      name: 'xadd',
      arity: -5,
      flags: ['write', 'denyoom', 'fast'],
      keys: oneKey,
      access: 'runs.start',
      run: (call) => add(call, deps),
    },
    {
      ...read,
      access: 'runs.read',
      name: 'xlen',
      arity: 2,
      flags: ['readonly', 'fast'],
      run: async ({ args: [name], caller }) => {
        const key = parseKey(name);
        if (key.kind === 'jobs' || key.kind === 'lease') return wrongType;
        return (await visible([key], caller, deps)).length === 0 || key.kind !== 'logs'
          ? 0
          : await lengthOf(key.runId, deps);
      },
    },
    { ...read, access: 'runs.read', name: 'xrange', arity: -4, run: (call) => range(call, deps) },
    {
      ...read,
      access: 'runs.read',
      name: 'xrevrange',
      arity: -4,
      run: (call) => range(call, deps, true),
    },
    {
      ...read,
      access: 'runs.read',
      name: 'xread',
      arity: -4,
      flags: ['readonly', 'blocking', 'movablekeys'],
      keys: [0, 0, 0],
      run: (call) => readStreams(call, deps),
    },
  ];
}

/** Writes lines to the log of a run that the caller has leased. */
async function add(call: MemberCall, deps: StreamDeps): Promise<Answer> {
  const [name, id, ...fields] = call.args;
  const key = parseKey(name);
  if (key.kind === 'jobs' || key.kind === 'lease') return wrongType;
  if (key.kind === 'none') {
    return failure('ERR unknown stream; add lines to runs:{run_id}:logs');
  }
  if (textOf(id) !== '*') return failure('ERR the platform assigns line ids; use *');
  if (fields.length % 2 !== 0) {
    return failure("ERR wrong number of arguments for 'xadd' command");
  }
  let text: Buffer | undefined;
  let stream: 'stdout' | 'stderr' = 'stdout';
  for (let at = 0; at < fields.length; at += 2) {
    const [field, value] = [textOf(fields[at]), fields[at + 1]];
    if (field === 'text') text = value;
    else if (field === 'stream' && textOf(value) === 'stderr') stream = 'stderr';
    else if (field === 'stream' && textOf(value) === 'stdout') stream = 'stdout';
    else return failure('ERR a line may have only the fields text and stream (stdout or stderr)');
  }
  if (text === undefined) return failure('ERR the field text is required');
  const held = await deps.leases.held(key.runId, call);
  const lastSeq = held && (await deps.leasedLogs.append(held, stream, text));
  if (lastSeq === undefined) {
    return failure(
      'ERR run_fenced: You do not hold the lease on this run: it has ended, or another worker holds it.',
    );
  }
  return placeOf(lastSeq);
}

/** @param isReverse for XREVRANGE, whose first argument is the end of the range and whose reply starts with the newest
 *  lines */
async function range(call: MemberCall, deps: StreamDeps, isReverse = false): Promise<Answer> {
  const [name, first, second, option, value, ...others] = call.args;
  const [start, end] = isReverse ? [second, first] : [first, second];
  const key = parseKey(name);
  if (key.kind === 'jobs' || key.kind === 'lease') return wrongType;
  const from = parsePlace(textOf(start), 'start');
  const to = parsePlace(textOf(end), 'end');
  if (from === undefined || to === undefined) return badId;
  let count = Number.POSITIVE_INFINITY;
  if (option !== undefined) {
    if (upper(option) !== 'COUNT' || value === undefined || others.length > 0) return syntaxError;
    const wanted = integerOf(value);
    if (wanted === undefined) return notAnInteger;
    count = Math.max(0, wanted);
  }
  const [runId] = await visible([key], call.caller, deps);
  if (runId === undefined || count === 0) return [];
  const wanted = { from, to, count, bytes: maxReplyBytes };
  const items = await (isReverse ? lastLinesOf : linesOf)(runId, wanted, deps);
  return items?.map(entry) ?? tooLarge;
}

interface Reading {
  readonly runIds: readonly (readonly [name: Buffer, runId: RunId, from: number])[];
  readonly count: number;
}

async function readStreams(call: MemberCall, deps: StreamDeps): Promise<Answer> {
  const parsed = parseRead(call.args);
  if (!('names' in parsed)) return parsed;
  const { names, places, count, blockMs } = parsed;
  const keys = names.map(parseKey);
  if (keys.some(({ kind }) => kind === 'jobs' || kind === 'lease')) return wrongType;
  const seen = new Set<string>(await visible(keys, call.caller, deps));
  const runIds: [Buffer, RunId, number][] = [];
  for (const [index, key] of keys.entries()) {
    const place = places[index] ?? '';
    const after = place === '$' ? 0 : parsePlace(place, 'after');
    if (after === undefined) return badId;
    if (key.kind !== 'logs' || !seen.has(key.runId)) continue;
    const from = place === '$' ? (await lengthOf(key.runId, deps)) + 1 : after;
    runIds.push([names[index] ?? Buffer.alloc(0), key.runId, from]);
  }
  const waitMs = call.inTransaction ? undefined : blockMs;
  return await readInTime({ runIds, count }, waitMs, call.signal, deps);
}

interface ParsedRead {
  readonly names: readonly Buffer[];
  readonly places: readonly string[];
  readonly count: number;
  /** The maximum blocking time; `undefined` does not block. */
  readonly blockMs: number | undefined;
}

function parseRead(args: readonly Buffer[]): ParsedRead | ErrorReply {
  let count = Number.POSITIVE_INFINITY;
  let blockMs: number | undefined;
  let at = 0;
  for (; at < args.length && upper(args[at]) !== 'STREAMS'; at += 2) {
    const value = integerOf(args[at + 1]);
    switch (upper(args[at])) {
      case 'COUNT':
        if (value === undefined) return notAnInteger;
        count = value < 1 ? Number.POSITIVE_INFINITY : value;
        break;
      case 'BLOCK':
        if (value === undefined) return failure('ERR timeout is not an integer or out of range');
        if (value < 0) return failure('ERR timeout is negative');
        blockMs = value === 0 ? Number.POSITIVE_INFINITY : value;
        break;
      default:
        return syntaxError;
    }
  }
  const rest = args.slice(at + 1);
  if (rest.length === 0) return syntaxError;
  if (rest.length % 2 !== 0) {
    return failure(
      "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.",
    );
  }
  const half = rest.length / 2;
  if (half > maxStreams) return failure(`ERR read at most ${maxStreams} streams per command`);
  return { names: rest.slice(0, half), places: rest.slice(half).map(textOf), count, blockMs };
}

/** Reads lines. If there are none, waits for new lines until the timeout. */
async function readInTime(
  reading: Reading,
  blockMs: number | undefined,
  signal: AbortSignal,
  deps: StreamDeps,
): Promise<Answer> {
  if (blockMs === undefined) return (await readOnce(reading, deps)) ?? noArray;
  const wanted = new Set<string>(reading.runIds.map(([, runId]) => runId));
  let isOver = false;
  let look: () => void = () => undefined;
  const unsubscribe = deps.bus.subscribe('log', ({ runId }) => {
    if (wanted.has(runId)) look();
  });
  const cancel = afterOrGone(blockMs, signal, () => {
    isOver = true;
    look();
  });
  try {
    for (;;) {
      const told = new Promise<void>((resolve) => (look = resolve));
      const found = await readOnce(reading, deps);
      if (found !== undefined) return found;
      if (isOver) return noArray;
      const timer = setTimeout(look, pollEveryMs);
      await told;
      clearTimeout(timer);
    }
  } finally {
    unsubscribe();
    cancel();
  }
}

/** @returns the reply, or `undefined` if there are no lines */
async function readOnce({ runIds, count }: Reading, deps: StreamDeps): Promise<Reply | undefined> {
  const found: [Buffer, Reply][] = [];
  let left = maxReplyBytes;
  for (const [name, runId, from] of runIds) {
    const wanted = { from, to: Number.MAX_SAFE_INTEGER, count, bytes: left };
    const items = await linesOf(runId, wanted, deps);
    if (items === undefined) return tooLarge;
    left -= sizeOf(items);
    if (items.length > 0) found.push([name, items.map(entry)]);
  }
  return found.length === 0 ? undefined : streams(found);
}
