/** LPUSH and the commands that inspect the queue. */
import { oneKey, type Answer, type Command, type MemberCall } from '../command.ts';
import { groupsOf } from '../callers.ts';
import { jobsOf, type JobsDeps } from '../jobs/jobs.ts';
import { pushJob, readJobs, type PushDeps, type Refused } from '../jobs/push.ts';
import { integerOf, notAnInteger, parseKey, wrongType } from '../keys.ts';
import type { Refusals } from '../refusals.ts';
import { failure } from '../resp/replies.ts';
import { countWaiting, listWaiting } from '#infra/postgres/queue/jobs.ts';

const maxListed = 1000;

export interface PushCommandDeps extends PushDeps, JobsDeps {
  readonly refusals: Refusals;
}

export function pushCommands(deps: PushCommandDeps): readonly Command[] {
  return [
    {
      name: 'lpush',
      arity: -3,
      flags: ['write', 'denyoom', 'fast'],
      keys: oneKey,
      access: 'runs.start',
      run: (call) => push(call, deps),
    },
    {
      name: 'llen',
      arity: 2,
      flags: ['readonly', 'fast'],
      keys: oneKey,
      access: 'runs.read',
      run: async ({ args: [name], caller }) => {
        const { kind } = parseKey(name);
        if (kind === 'logs' || kind === 'lease') return wrongType;
        return kind === 'jobs' ? await countWaiting(deps.database, groupsOf(caller)) : 0;
      },
    },
    {
      name: 'lrange',
      arity: 4,
      flags: ['readonly'],
      keys: oneKey,
      access: 'runs.read',
      run: (call) => range(call, deps),
    },
  ];
}

/** Parses all jobs first, so that an invalid job prevents the whole push. Each job is then queued separately. The
 *  command ends at the first refused job, and the jobs before it stay queued. */
async function push(call: MemberCall, deps: PushCommandDeps): Promise<Answer> {
  const { args, caller, session } = call;
  const [name, ...texts] = args;
  const { kind } = parseKey(name);
  if (kind === 'logs' || kind === 'lease') return wrongType;
  if (kind === 'none') return failure('ERR unknown list; push jobs to runtime:jobs');
  const place = (index: number) => (texts.length === 1 ? '' : ` (job ${index + 1})`);
  const refused = ({ code, detail, resource }: Refused, index: number, queued: number) => {
    const rest = queued === 0 ? '' : ` The ${queued} jobs before it were queued.`;
    const turned = { session, caller, name: 'lpush', code, resource };
    return deps.refusals.refused(turned, `${detail}${place(index)}${rest}`);
  };
  const jobs = await readJobs(texts, caller, deps);
  for (const [index, job] of jobs.entries()) {
    if ('code' in job) return refused({ ...job, resource: null }, index, 0);
  }
  for (const [index, job] of jobs.entries()) {
    if ('code' in job) continue;
    const refusal = await pushJob(job, caller, session, deps);
    if (refusal !== undefined) return refused(refusal, index, index);
  }
  // Counts at least the pushed jobs, even if other clients have already claimed some of them.
  return Math.max(jobs.length, await countWaiting(deps.database, groupsOf(caller)));
}

async function range(call: MemberCall, deps: PushCommandDeps): Promise<Answer> {
  const { args, caller } = call;
  const [first, last] = [integerOf(args[1]), integerOf(args[2])];
  if (first === undefined || last === undefined) return notAnInteger;
  const { kind } = parseKey(args[0]);
  if (kind === 'logs' || kind === 'lease') return wrongType;
  if (kind === 'none') return [];
  const groups = groupsOf(caller);
  const length = await countWaiting(deps.database, groups);
  const from = Math.max(0, first < 0 ? length + first : first);
  const to = Math.min(length - 1, last < 0 ? length + last : last);
  if (from > to) return [];
  if (to - from >= maxListed) return failure(`ERR request at most ${maxListed} jobs per command`);
  const runIds = await listWaiting(deps.database, groups, from, to - from + 1);
  const jobs = await jobsOf(runIds, new Map(), deps);
  return runIds.flatMap((runId) => jobs.get(runId) ?? []);
}
