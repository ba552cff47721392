/** Checks retention under load. Logs and artifacts of outdated runs must be removed, and the data of recent runs must
 *  be kept. */
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '#services/minimal/testing/product.ts';
import { clockedKinds, type Clocks } from './clocks.ts';
import { send, type Edition } from './edition.ts';
import type { Fault } from './faults.ts';
import { wrongParts, type Age, type RunParts } from './kept-parts.ts';
import { kill, type KillOptions } from './operations.ts';

const artifacts = 20;
const outdatedRuns = 10;
const recentRuns = 3;
const daySeconds = 24 * 60 * 60;

const source = `
import time
from orchestrator import Platform
platform = Platform()
for number in range(${artifacts}):
    platform.storage.upload(f"{number}.txt", platform.params["mark"])
print(platform.params["mark"], flush=True)
time.sleep(platform.params["seconds"])
`;

interface Run {
  readonly id: string;
  readonly mark: string;
}

interface RunAnswer {
  readonly status: string;
  readonly params: object | null;
}

interface Runs {
  readonly outdated: readonly Run[];
  readonly recent: readonly Run[];
}

/**
 * Returns one fault per victim. After runs have finished, all processes are killed and two days pass. The platform then
 * removes data that is older than one day, and the victim is killed during the removal.
 */
export function retentionFaults(
  clocks: Clocks,
  { journal, random, victims }: KillOptions,
): readonly Fault[] {
  let days = 0;
  return victims.map((victim): Fault => {
    const operation = `retention, ${victim} killed`;
    return {
      name: operation,
      async inflict(edition) {
        days += 2;
        const runs = await makeRuns(edition, () => {
          for (const kind of clockedKinds) clocks.set(kind, days * daySeconds);
          journal.note({ what: 'days passed' });
        });
        const id = randomUUID();
        journal.note({ what: 'begun', operation, id });
        await keepDays(edition, { logs_days: 1, artifacts_days: 1, payloads_days: 365 });
        // A scheduler removes outdated data when it starts, and then every ten minutes.
        for (const pid of await edition.pidsOf('backend')) send(pid, 'SIGKILL');
        const step = await untilRemoving(edition, runs.outdated, random());
        journal.note({ what: 'struck', operation, id, step });
        await kill(edition, victim);
        await untilRemoved(edition, runs.outdated);
        const outcome = (await problemsOf(edition, runs)).join('; ') || 'removed';
        journal.note({ what: 'concluded', operation, id, outcome, expected: ['removed'] });
        // Disables the retention periods, so that runs of the next fault are not removed before they are
        // checked.
        await keepDays(edition, { logs_days: null, artifacts_days: null });
      },
    };
  });
}

/** Creates runs that finish before a downtime, and runs that finish after the downtime.
 *  @param pass moves the clocks ahead during the downtime */
async function makeRuns(edition: Edition, pass: () => void): Promise<Runs> {
  const script = await makeScript(edition);
  const outdated = await startRuns(edition, script, outdatedRuns);
  await untilEnded(edition, outdated);
  const underWay = await startRun(edition, script, 600);
  await untilLogged(edition, underWay);
  await edition.freezeAll();
  await edition.endAll();
  pass();
  await edition.startOn(edition.dataDir);
  // The run that was active during the downtime counts as recent, because it finishes after the downtime.
  const recent = [underWay, ...(await startRuns(edition, script, recentRuns))];
  await untilEnded(edition, recent);
  return { outdated, recent };
}

async function keepDays(edition: Edition, days: object): Promise<void> {
  await edition.requestReliably('PUT', '/system/retention', days);
}

async function makeScript(edition: Edition): Promise<string> {
  const key = randomUUID();
  const body = { name: `Kept ${key}`, max_concurrent_runs: 4 };
  const { id } = await edition.requestReliably<{ id: string }>('POST', '/scripts', body, key);
  const file = { content: source, encoding: 'utf-8' };
  await edition.requestReliably('PUT', `/scripts/${id}/files/main.py`, file);
  return id;
}

async function startRuns(edition: Edition, script: string, count: number): Promise<readonly Run[]> {
  return await Promise.all(Array.from({ length: count }, () => startRun(edition, script, 0)));
}

async function startRun(edition: Edition, script: string, seconds: number): Promise<Run> {
  const mark = randomUUID();
  const body = { params: { mark, seconds }, when_busy: 'queue' };
  const path = `/runs/scripts/${script}/run`;
  const { run_id: id } = await edition.requestReliably<{ run_id: string }>(
    'POST',
    path,
    body,
    mark,
  );
  return { id, mark };
}

const runTimeoutMs = 5 * 60_000;

async function untilEnded(edition: Edition, runs: readonly Run[]): Promise<void> {
  for (const { id } of runs) {
    const ask = async () => {
      const { status } = await edition.requestReliably<RunAnswer>('GET', `/runs/${id}`);
      if (status !== 'queued' && status !== 'running') return true;
      await wait(100);
      return undefined;
    };
    await until('the run has ended', ask, runTimeoutMs);
  }
}

async function untilLogged(edition: Edition, run: Run): Promise<void> {
  const ask = async () => (await hasLog(edition, run)) || undefined;
  await until('the run writes its line', ask, runTimeoutMs);
}

async function hasLog(edition: Edition, { id, mark }: Run): Promise<boolean> {
  const { items } = await edition.requestReliably<{ items: readonly { text: string }[] }>(
    'GET',
    `/runs/${id}/logs`,
  );
  return items.some(({ text }) => text === mark);
}

/** Waits until at most this share of the outdated artifacts remains.
 *  @returns the progress of the removal, for the journal */
async function untilRemoving(
  { dataDir }: Edition,
  outdated: readonly Run[],
  share: number,
): Promise<string> {
  const total = outdatedRuns * artifacts;
  const ask = async () => {
    await wait(1);
    const left = storedFiles(dataDir, outdated);
    if (left > share * total) return undefined;
    if (left === 0) return 'artifacts removed';
    return left === total ? 'not begun' : 'some artifacts removed';
  };
  return await until('artifacts are removed', ask, runTimeoutMs);
}

async function untilRemoved({ dataDir }: Edition, outdated: readonly Run[]): Promise<void> {
  const ask = () => Promise.resolve(storedFiles(dataDir, outdated) === 0 || undefined);
  await until('expired artifacts are removed', ask, runTimeoutMs);
}

/** Counts the artifacts in the object store. */
function storedFiles(dataDir: string, runs: readonly Run[]): number {
  const counts = runs.map(({ id }) => {
    try {
      return readdirSync(join(dataDir, 'objects/runs', id, 'artifacts')).length;
    } catch {
      return 0; // the folder was removed together with its last file
    }
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

async function problemsOf(edition: Edition, runs: Runs): Promise<readonly string[]> {
  const ages = ['outdated', 'recent'] as const satisfies readonly Age[];
  const problems = ages.map(async (age) => {
    const found = await Promise.all(runs[age].map((run) => partsOf(edition, run)));
    return found.flatMap((parts) => wrongParts(age, parts, artifacts));
  });
  return (await Promise.all(problems)).flat();
}

async function partsOf(edition: Edition, run: Run): Promise<RunParts> {
  const path = `/runs/${run.id}`;
  const { params } = await edition.requestReliably<RunAnswer>('GET', path);
  const { items } = await edition.requestReliably<{ items: readonly unknown[] }>(
    'GET',
    `${path}/artifacts`,
  );
  return {
    run: run.id,
    hasLog: await hasLog(edition, run),
    artifacts: items.length,
    hasParams: params !== null,
  };
}
