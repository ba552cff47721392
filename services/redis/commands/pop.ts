/** RPOP, LMOVE, LMPOP and their relatives lease a queued run to the caller. Either end of the list gives the
 *  next run of the queue. */
import { noArray, failure, type ErrorReply, type Reply } from '../resp/replies.ts';
import {
  noKeys,
  oneKey,
  textOf,
  upper,
  type Answer,
  type Command,
  type Handover,
  type MemberCall,
} from '../command.ts';
import type { JobDispatcher } from '../jobs/dispatcher.ts';
import { jobsOf, type JobsParts } from '../jobs/jobs.ts';
import type { Leased } from '../jobs/leases.ts';
import { integerOf, jobsKey, parseKey, syntaxError, wrongType } from '../keys.ts';

const maxAtOnce = 100;

export interface PopParts extends JobsParts {
  readonly dispatcher: JobDispatcher;
}

type Form = (jobs: readonly string[]) => Reply;

export function popCommands(parts: PopParts): readonly Command[] {
  const common = { flags: ['write', 'denyoom'], keys: oneKey } as const;
  const pop = (name: string): Command => ({
    ...common,
    access: 'runs.start',
    name,
    arity: -2,
    run: (call) => popNow({ ...call, name }, parts),
  });
  const blockingPop = (name: string): Command => ({
    ...common,
    access: 'runs.start',
    name,
    arity: -3,
    flags: ['write', 'noscript', 'blocking'],
    keys: [1, -2, 1],
    run: (call) => popInTime(call, parts),
  });
  return [
    pop('rpop'),
    pop('lpop'),
    blockingPop('brpop'),
    blockingPop('blpop'),
    {
      ...common,
      access: 'runs.start',
      name: 'lmpop',
      arity: -4,
      flags: ['write', 'movablekeys'],
      keys: noKeys,
      run: (call) => popSomeNow(call, parts),
    },
    {
      ...common,
      access: 'runs.start',
      name: 'blmpop',
      arity: -5,
      flags: ['write', 'blocking', 'movablekeys'],
      keys: noKeys,
      run: (call) => popSomeInTime(call, parts),
    },
    {
      ...common,
      access: 'runs.start',
      name: 'rpoplpush',
      arity: 3,
      keys: [1, 2, 1],
      run: (call) => moveNow(call, parts),
    },
    {
      ...common,
      access: 'runs.start',
      name: 'brpoplpush',
      arity: 4,
      flags: ['write', 'denyoom', 'noscript', 'blocking'],
      keys: [1, 2, 1],
      run: (call) => moveInTime(call, parts),
    },
    {
      ...common,
      access: 'runs.start',
      name: 'lmove',
      arity: 5,
      keys: [1, 2, 1],
      run: (call) => endsProblem(call.args) ?? moveNow(call, parts),
    },
    {
      ...common,
      access: 'runs.start',
      name: 'blmove',
      arity: 6,
      flags: ['write', 'denyoom', 'noscript', 'blocking'],
      keys: [1, 2, 1],
      run: (call) => endsProblem(call.args) ?? moveInTime(call, parts),
    },
  ];
}

async function popNow(
  call: MemberCall & { readonly name: string },
  parts: PopParts,
): Promise<Answer> {
  const [name, wanted, ...others] = call.args;
  if (others.length > 0) {
    return failure(`ERR wrong number of arguments for '${call.name}' command`);
  }
  const count = wanted === undefined ? undefined : integerOf(wanted);
  if (wanted !== undefined && (count === undefined || count < 0)) {
    return failure('ERR value is out of range, must be positive');
  }
  const key = parseKey(name);
  if (key.kind === 'logs' || key.kind === 'lease') return wrongType;
  const none = count === undefined ? null : noArray;
  if (key.kind === 'none') return none;
  if (count === 0) return [];
  const taken = await popSome(count ?? 1, call, parts);
  return await handover(taken, none, call, parts, (jobs) =>
    count === undefined ? (jobs[0] ?? null) : jobs,
  );
}

/** Takes at most `count` runs, without waiting. */
async function popSome(
  count: number,
  { caller }: MemberCall,
  { dispatcher }: PopParts,
): Promise<readonly Leased[]> {
  const taken: Leased[] = [];
  for (let left = Math.min(count, maxAtOnce); left > 0; left -= 1) {
    const leased = await dispatcher.take(caller);
    if (leased === undefined) break;
    taken.push(leased);
  }
  return taken;
}

const fromJobs: Form = (jobs) => [jobsKey, jobs];

async function popSomeNow(call: MemberCall, parts: PopParts): Promise<Answer> {
  const wanted = parseSome(call.args);
  if ('kind' in wanted) return wanted;
  const taken = wanted.isThere ? await popSome(wanted.count, call, parts) : [];
  return await handover(taken, noArray, call, parts, fromJobs);
}

/** Waits for the first run, and takes the others that are there then. */
async function popSomeInTime(call: MemberCall, parts: PopParts): Promise<Answer> {
  const waitMs = timeoutMs(call.args[0]);
  if (typeof waitMs !== 'number') return waitMs;
  const wanted = parseSome(call.args.slice(1));
  if ('kind' in wanted) return wanted;
  const { isThere, count } = wanted;
  return await popOneInTime(isThere, waitMs, noArray, call, parts, fromJobs, count);
}

interface Some {
  readonly isThere: boolean;
  readonly count: number;
}

/** Reads `numkeys key [key …] LEFT|RIGHT [COUNT count]`. */
function parseSome([numkeys, ...rest]: readonly Buffer[]): Some | ErrorReply {
  const keyCount = integerOf(numkeys) ?? 0;
  if (keyCount < 1) return failure('ERR numkeys should be greater than 0');
  const [end, option, value, ...others] = rest.slice(keyCount);
  if (end === undefined || !['LEFT', 'RIGHT'].includes(upper(end))) return syntaxError;
  if (option !== undefined && (upper(option) !== 'COUNT' || value === undefined)) {
    return syntaxError;
  }
  if (others.length > 0) return syntaxError;
  const count = value === undefined ? 1 : (integerOf(value) ?? 0);
  if (count < 1) return failure('ERR count should be greater than 0');
  const kinds = rest.slice(0, keyCount).map((name) => parseKey(name).kind);
  if (kinds.some((kind) => kind === 'logs' || kind === 'lease')) return wrongType;
  return { isThere: kinds.includes('jobs'), count };
}

async function popInTime(call: MemberCall, parts: PopParts): Promise<Answer> {
  const waitMs = timeoutMs(call.args.at(-1));
  if (typeof waitMs !== 'number') return waitMs;
  let isThere = false;
  for (const name of call.args.slice(0, -1)) {
    const { kind } = parseKey(name);
    if (kind === 'logs' || kind === 'lease') return wrongType;
    isThere ||= kind === 'jobs';
  }
  return await popOneInTime(isThere, waitMs, noArray, call, parts, ([job = '']) => [jobsKey, job]);
}

async function moveNow(call: MemberCall, parts: PopParts): Promise<Answer> {
  const from = source(call.args);
  if (typeof from !== 'boolean') return from;
  const leased = from ? await parts.dispatcher.take(call.caller) : undefined;
  return await handover(leased === undefined ? [] : [leased], null, call, parts, theJob);
}

async function moveInTime(call: MemberCall, parts: PopParts): Promise<Answer> {
  const waitMs = timeoutMs(call.args.at(-1));
  if (typeof waitMs !== 'number') return waitMs;
  const from = source(call.args);
  if (typeof from !== 'boolean') return from;
  return await popOneInTime(from, waitMs, null, call, parts, theJob);
}

/** Both ends of a move have to be named; which ones makes no difference. */
function endsProblem([, , ...ends]: readonly Buffer[]): ErrorReply | undefined {
  const isNamed = ends.slice(0, 2).every((end) => ['LEFT', 'RIGHT'].includes(upper(end)));
  return isNamed ? undefined : syntaxError;
}

const theJob: Form = ([job = null]) => job;

/** @returns whether there are jobs in the list that is moved from */
function source([from, to]: readonly Buffer[]): boolean | ErrorReply {
  const { kind } = parseKey(from);
  // The lease identifies the holder of a job; the destination list is not stored.
  const target = parseKey(to).kind;
  if (kind === 'logs' || kind === 'lease' || target === 'logs' || target === 'lease') {
    return wrongType;
  }
  if (target === 'jobs') return failure('ERR a claimed job cannot be pushed back');
  return kind === 'jobs';
}

/** Waits in turn, unless a job is available immediately and no other client waits. */
async function popOneInTime(
  isThere: boolean,
  waitMs: number,
  none: Reply,
  call: MemberCall,
  parts: PopParts,
  form: Form,
  count = 1,
): Promise<Answer> {
  const { session, signal } = call;
  const { credential } = session;
  if (credential === undefined) return none;
  if (call.inTransaction) {
    const taken = isThere ? await popSome(count, call, parts) : [];
    return await handover(taken, none, call, parts, form);
  }
  if (!isThere) {
    await parts.dispatcher.idle(waitMs, signal);
    return none;
  }
  const taken = await parts.dispatcher.wait(credential, waitMs, signal);
  if (taken === 'unauthorized') {
    session.isEnding = true;
    return failure('NOAUTH The token has expired or was revoked.');
  }
  if (taken === undefined) return none;
  const others = count > 1 ? await popSome(count - 1, call, parts) : [];
  return await handover([taken, ...others], none, call, parts, form);
}

/** The reply with the jobs, and what is done when it has been sent or cannot be. */
async function handover(
  taken: readonly Leased[],
  none: Reply,
  { session }: MemberCall,
  parts: PopParts,
  form: Form,
): Promise<Answer> {
  if (taken.length === 0) return none;
  const settle: Handover['settle'] = async (sent) => {
    await Promise.all(taken.map((leased) => parts.dispatcher.settle(leased, sent, session)));
  };
  try {
    const jobIds = new Map(taken.map(({ run, jobId }) => [run.runId as string, jobId]));
    const jobs = await jobsOf([...jobIds.keys()], jobIds, parts);
    const texts = [...jobIds.keys()].flatMap((runId) => jobs.get(runId) ?? []);
    // A client that has not taken it in half of the lease would get it when it is another's.
    const withinMs = (parts.leaseSeconds * 1000) / 2;
    return { kind: 'handover', reply: form(texts), withinMs, settle };
  } catch (error) {
    await settle(false);
    throw error;
  }
}

/** Seconds, also fractions; 0 waits without a limit. */
function timeoutMs(argument: Buffer | undefined): number | ErrorReply {
  const text = textOf(argument);
  if (!/^-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text)) {
    return failure('ERR timeout is not a float or out of range');
  }
  const seconds = Number(text);
  if (seconds < 0) return failure('ERR timeout is negative');
  if (seconds > Number.MAX_SAFE_INTEGER / 1000) return failure('ERR timeout is out of range');
  return seconds === 0 ? Number.POSITIVE_INFINITY : Math.ceil(seconds * 1000);
}
