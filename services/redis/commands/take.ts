/** RPOP and LPOP, BRPOP and BLPOP, LMOVE and BLMOVE: a queued run is leased to the caller. Whichever end is
 *  named, it is the one that comes next. */
import { noArray, failure, type ErrorReply, type Reply } from '../resp/replies.ts';
import {
  oneKey,
  textOf,
  upper,
  type Answer,
  type Command,
  type Handover,
  type MemberCall,
} from '../command.ts';
import type { Desk } from '../jobs/desk.ts';
import { jobsOf, type JobsParts } from '../jobs/jobs.ts';
import type { Leased } from '../jobs/leases.ts';
import { integerOf, jobsKey, parseKey, syntaxError, wrongType } from '../keys.ts';

const maxAtOnce = 100;

export interface TakeParts extends JobsParts {
  readonly desk: Desk;
}

type Form = (jobs: readonly string[]) => Reply;

export function takeCommands(parts: TakeParts): readonly Command[] {
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
      name: 'lmove',
      arity: 5,
      keys: [1, 2, 1],
      run: (call) => moveNow(call, parts),
    },
    {
      ...common,
      access: 'runs.start',
      name: 'blmove',
      arity: 6,
      flags: ['write', 'denyoom', 'noscript', 'blocking'],
      keys: [1, 2, 1],
      run: (call) => moveInTime(call, parts),
    },
  ];
}

async function popNow(
  call: MemberCall & { readonly name: string },
  parts: TakeParts,
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
  const taken: Leased[] = [];
  for (let left = Math.min(count ?? 1, maxAtOnce); left > 0; left -= 1) {
    const leased = await parts.desk.take(call.caller);
    if (leased === undefined) break;
    taken.push(leased);
  }
  return await handover(taken, none, call, parts, (jobs) =>
    count === undefined ? (jobs[0] ?? null) : jobs,
  );
}

async function popInTime(call: MemberCall, parts: TakeParts): Promise<Answer> {
  const waitMs = timeoutMs(call.args.at(-1));
  if (typeof waitMs !== 'number') return waitMs;
  let isThere = false;
  for (const name of call.args.slice(0, -1)) {
    const { kind } = parseKey(name);
    if (kind === 'logs' || kind === 'lease') return wrongType;
    isThere ||= kind === 'jobs';
  }
  return await takeInTime(isThere, waitMs, noArray, call, parts, ([job = '']) => [jobsKey, job]);
}

async function moveNow(call: MemberCall, parts: TakeParts): Promise<Answer> {
  const from = source(call.args);
  if (typeof from !== 'boolean') return from;
  const leased = from ? await parts.desk.take(call.caller) : undefined;
  return await handover(leased === undefined ? [] : [leased], null, call, parts, theJob);
}

async function moveInTime(call: MemberCall, parts: TakeParts): Promise<Answer> {
  const waitMs = timeoutMs(call.args.at(-1));
  if (typeof waitMs !== 'number') return waitMs;
  const from = source(call.args);
  if (typeof from !== 'boolean') return from;
  return await takeInTime(from, waitMs, null, call, parts, theJob);
}

const theJob: Form = ([job = null]) => job;

/** @returns whether there are jobs in the list that is moved from */
function source([from, to, ...ends]: readonly Buffer[]): boolean | ErrorReply {
  if (ends.slice(0, 2).some((end) => !['LEFT', 'RIGHT'].includes(upper(end)))) return syntaxError;
  const { kind } = parseKey(from);
  // Whoever took a job has it; the list that it is moved to is the taker's own affair.
  const target = parseKey(to).kind;
  if (kind === 'logs' || kind === 'lease' || target === 'logs' || target === 'lease') {
    return wrongType;
  }
  if (target === 'jobs') return failure('ERR a job that was taken is not put back');
  return kind === 'jobs';
}

/** Waits in turn, unless there is a job at once and nobody waits. */
async function takeInTime(
  isThere: boolean,
  waitMs: number,
  none: Reply,
  call: MemberCall,
  parts: TakeParts,
  form: Form,
): Promise<Answer> {
  const { session, signal } = call;
  const { credential } = session;
  if (credential === undefined) return none;
  if (!isThere) {
    await parts.desk.idle(waitMs, signal);
    return none;
  }
  const taken = await parts.desk.wait(credential, waitMs, signal);
  if (taken === 'nobody') {
    session.isEnding = true;
    return failure('NOAUTH The token has expired or was revoked.');
  }
  return await handover(taken === undefined ? [] : [taken], none, call, parts, form);
}

/** The reply with the jobs, and what is done when it has been sent or cannot be. */
async function handover(
  taken: readonly Leased[],
  none: Reply,
  { session }: MemberCall,
  parts: TakeParts,
  form: Form,
): Promise<Answer> {
  if (taken.length === 0) return none;
  const settle: Handover['settle'] = async (sent) => {
    await Promise.all(taken.map((leased) => parts.desk.settle(leased, sent, session)));
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

/** Seconds, also parts of them; 0 waits for ever. */
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
