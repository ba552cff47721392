/** RPOP, LMOVE, LMPOP and related commands, which lease queued runs to the caller. Both ends of the list return the
 *  next run in the queue. */
import { noArray, failure, type ErrorReply, type Reply } from '../resp/replies.ts';
import {
  noKeys,
  oneKey,
  textOf,
  upper,
  type Answer,
  type Command,
  type JobDelivery,
  type MemberCall,
} from '../command.ts';
import type { JobDispatcher } from '../jobs/dispatcher.ts';
import { jobsOf, type JobsDeps } from '../jobs/jobs.ts';
import type { Leased } from '../jobs/leases.ts';
import { integerOf, jobsKey, parseKey, syntaxError, wrongType } from '../keys.ts';

const maxJobsPerPop = 100;

export interface PopDeps extends JobsDeps {
  readonly dispatcher: JobDispatcher;
}

type Form = (jobs: readonly string[]) => Reply;

export function popCommands(deps: PopDeps): readonly Command[] {
  const common = { flags: ['write', 'denyoom'], keys: oneKey } as const;
  const pop = (name: string): Command => ({
    ...common,
    access: 'runs.start',
    name,
    arity: -2,
    run: (call) => popNow({ ...call, name }, deps),
  });
  const blockingPop = (name: string): Command => ({
    ...common,
    access: 'runs.start',
    name,
    arity: -3,
    flags: ['write', 'noscript', 'blocking'],
    keys: [1, -2, 1],
    run: (call) => popInTime(call, deps),
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
      run: (call) => popSomeNow(call, deps),
    },
    {
      ...common,
      access: 'runs.start',
      name: 'blmpop',
      arity: -5,
      flags: ['write', 'blocking', 'movablekeys'],
      keys: noKeys,
      run: (call) => popSomeInTime(call, deps),
    },
    {
      ...common,
      access: 'runs.start',
      name: 'rpoplpush',
      arity: 3,
      keys: [1, 2, 1],
      run: (call) => moveNow(call, deps),
    },
    {
      ...common,
      access: 'runs.start',
      name: 'brpoplpush',
      arity: 4,
      flags: ['write', 'denyoom', 'noscript', 'blocking'],
      keys: [1, 2, 1],
      run: (call) => moveInTime(call, deps),
    },
    {
      ...common,
      access: 'runs.start',
      name: 'lmove',
      arity: 5,
      keys: [1, 2, 1],
      run: (call) => endsProblem(call.args) ?? moveNow(call, deps),
    },
    {
      ...common,
      access: 'runs.start',
      name: 'blmove',
      arity: 6,
      flags: ['write', 'denyoom', 'noscript', 'blocking'],
      keys: [1, 2, 1],
      run: (call) => endsProblem(call.args) ?? moveInTime(call, deps),
    },
  ];
}

async function popNow(
  call: MemberCall & { readonly name: string },
  deps: PopDeps,
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
  const taken = await popSome(count ?? 1, call, deps);
  return await deliver(taken, none, call, deps, (jobs) =>
    count === undefined ? (jobs[0] ?? null) : jobs,
  );
}

/** Claims up to `count` runs without waiting. */
async function popSome(
  count: number,
  { caller }: MemberCall,
  { dispatcher }: PopDeps,
): Promise<readonly Leased[]> {
  const taken: Leased[] = [];
  for (let left = Math.min(count, maxJobsPerPop); left > 0; left -= 1) {
    const leased = await dispatcher.take(caller);
    if (leased === undefined) break;
    taken.push(leased);
  }
  return taken;
}

const fromJobs: Form = (jobs) => [jobsKey, jobs];

async function popSomeNow(call: MemberCall, deps: PopDeps): Promise<Answer> {
  const wanted = parseSome(call.args);
  if ('kind' in wanted) return wanted;
  const taken = wanted.isThere ? await popSome(wanted.count, call, deps) : [];
  return await deliver(taken, noArray, call, deps, fromJobs);
}

/** Waits for a run, and then claims it together with other available runs. */
async function popSomeInTime(call: MemberCall, deps: PopDeps): Promise<Answer> {
  const waitMs = timeoutMs(call.args[0]);
  if (typeof waitMs !== 'number') return waitMs;
  const wanted = parseSome(call.args.slice(1));
  if ('kind' in wanted) return wanted;
  const { isThere, count } = wanted;
  return await popOneInTime(isThere, waitMs, noArray, call, deps, fromJobs, count);
}

interface Some {
  readonly isThere: boolean;
  readonly count: number;
}

/** Parses `numkeys key [key …] LEFT|RIGHT [COUNT count]`. */
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

async function popInTime(call: MemberCall, deps: PopDeps): Promise<Answer> {
  const waitMs = timeoutMs(call.args.at(-1));
  if (typeof waitMs !== 'number') return waitMs;
  let isThere = false;
  for (const name of call.args.slice(0, -1)) {
    const { kind } = parseKey(name);
    if (kind === 'logs' || kind === 'lease') return wrongType;
    isThere ||= kind === 'jobs';
  }
  return await popOneInTime(isThere, waitMs, noArray, call, deps, ([job = '']) => [jobsKey, job]);
}

async function moveNow(call: MemberCall, deps: PopDeps): Promise<Answer> {
  const from = source(call.args);
  if (typeof from !== 'boolean') return from;
  const leased = from ? await deps.dispatcher.take(call.caller) : undefined;
  return await deliver(leased === undefined ? [] : [leased], null, call, deps, theJob);
}

async function moveInTime(call: MemberCall, deps: PopDeps): Promise<Answer> {
  const waitMs = timeoutMs(call.args.at(-1));
  if (typeof waitMs !== 'number') return waitMs;
  const from = source(call.args);
  if (typeof from !== 'boolean') return from;
  return await popOneInTime(from, waitMs, null, call, deps, theJob);
}

/** The move commands take two directions as arguments. All valid directions are accepted, but they have no effect. */
function endsProblem([, , ...ends]: readonly Buffer[]): ErrorReply | undefined {
  const isNamed = ends.slice(0, 2).every((end) => ['LEFT', 'RIGHT'].includes(upper(end)));
  return isNamed ? undefined : syntaxError;
}

const theJob: Form = ([job = null]) => job;

/** Checks the keys of a move command. @returns whether the source list contains jobs */
function source([from, to]: readonly Buffer[]): boolean | ErrorReply {
  const { kind } = parseKey(from);
  // The job is not stored in the destination list, because its lease already identifies the holder.
  const target = parseKey(to).kind;
  if (kind === 'logs' || kind === 'lease' || target === 'logs' || target === 'lease') {
    return wrongType;
  }
  if (target === 'jobs') return failure('ERR a claimed job cannot be pushed back');
  return kind === 'jobs';
}

/** Claims a run immediately, or joins the end of the queue of waiting clients. */
async function popOneInTime(
  isThere: boolean,
  waitMs: number,
  none: Reply,
  call: MemberCall,
  deps: PopDeps,
  form: Form,
  count = 1,
): Promise<Answer> {
  const { session, signal } = call;
  const { credential } = session;
  if (credential === undefined) return none;
  if (call.inTransaction) {
    const taken = isThere ? await popSome(count, call, deps) : [];
    return await deliver(taken, none, call, deps, form);
  }
  if (!isThere) {
    await deps.dispatcher.idle(waitMs, signal);
    return none;
  }
  const taken = await deps.dispatcher.wait(credential, waitMs, signal);
  if (taken === 'unauthorized') {
    session.isEnding = true;
    return failure('NOAUTH The token has expired or was revoked.');
  }
  if (taken === undefined) return none;
  const others = count > 1 ? await popSome(count - 1, call, deps) : [];
  return await deliver([taken, ...others], none, call, deps, form);
}

/** Creates the reply that delivers jobs. If the delivery fails, the jobs return to the queue. */
async function deliver(
  taken: readonly Leased[],
  none: Reply,
  { session }: MemberCall,
  deps: PopDeps,
  form: Form,
): Promise<Answer> {
  if (taken.length === 0) return none;
  const settle: JobDelivery['settle'] = async (sent) => {
    await Promise.all(taken.map((leased) => deps.dispatcher.settle(leased, sent, session)));
  };
  try {
    const jobIds = new Map(taken.map(({ run, jobId }) => [run.runId as string, jobId]));
    const jobs = await jobsOf([...jobIds.keys()], jobIds, deps);
    const texts = [...jobIds.keys()].flatMap((runId) => jobs.get(runId) ?? []);
    // Limits the delivery to half of the lease, so that no client receives a job whose lease has expired.
    const withinMs = (deps.leaseSeconds * 1000) / 2;
    return { kind: 'delivery', reply: form(texts), withinMs, settle };
  } catch (error) {
    await settle(false);
    throw error;
  }
}

/** Parses a timeout in seconds, which may have a fraction. With 0, the command waits indefinitely. */
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
