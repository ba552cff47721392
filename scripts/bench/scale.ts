/** Measures one runtime process, predicts the throughput and wait times with several, and then measures several. In the
 *  measurement and in the simulation, all processes share the processors of this machine. */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { serverAccount } from '#infra/embedded/account.ts';
import { findBinaries } from '#infra/embedded/binaries.ts';
import { DATABASE, SERVICE_USER } from '#infra/embedded/cluster.ts';
import { DatabaseNode, nodeAddress } from '#infra/testing/database-node.ts';
import { Fleet } from '#services/minimal/testing/fleet.ts';
import { startNode } from './database.ts';
import { median, row } from './report.ts';
import { cpuByPart, cpuParts, divide, subtract, usageOf, type Usage } from './run-cost.ts';
import {
  loadsOf,
  mean,
  predict,
  rateOf,
  saturation,
  type LoadResult,
  type RunParameters,
} from './scale-model.ts';

const runtimeCounts = [2, 4, 8];
const slotsOfRuntime = 2;
const sleepMs = 200;
/** A script that mostly waits, like a script that calls a remote service. */
const source = `import time\nprint('started')\ntime.sleep(${sleepMs / 1000})\n`;
const warmUpRunsPerSlot = 5;
const sequentialRuns = 20;
const idleMs = 5_000;
const pollMs = 50;
const pageSize = 200;

const testFolder = fileURLToPath(new URL('../../.test', import.meta.url));

interface Run {
  readonly status: string;
  readonly queued_at: string;
  readonly started_at: string;
  readonly finished_at: string;
}

interface Subject {
  readonly fleet: Fleet;
  readonly node: DatabaseNode;
  readonly runtimes: number;
  readonly scriptId: string;
}

export async function benchScale(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'scale-'));
  const node = new DatabaseNode(folder, findBinaries(serverAccount(), join(folder, 'fallback')));
  try {
    await startNode(node);
    const parameters = await onRuntimes(node, 1, measureParameters);
    for (const runtimes of runtimeCounts) {
      await onRuntimes(node, runtimes, (subject) => comparePredictions(subject, parameters));
    }
  } finally {
    await node.end('SIGINT');
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts the processes, and creates a script with warm interpreters in every runtime. */
async function onRuntimes<Answer>(
  node: DatabaseNode,
  runtimes: number,
  work: (subject: Subject) => Promise<Answer>,
): Promise<Answer> {
  await mkdir(testFolder, { recursive: true });
  // The data must not be below `/tmp`, because the sandbox replaces `/tmp`.
  const workFolder = await mkdtemp(join(testFolder, 'bench-'));
  const fleet = await Fleet.start({
    databaseUrl: nodeAddress(node.sockets, SERVICE_USER, DATABASE),
    replicas: { backend: 1, scheduler: 1, runtime: runtimes },
    variables: {
      ORCH_RUNTIME_SLOTS: String(slotsOfRuntime),
      ...(process.env['ORCH_PYTHON'] !== undefined && { ORCH_PYTHON: process.env['ORCH_PYTHON'] }),
    },
    variablesOf: (name) => ({ ORCH_WORK_DIR: join(workFolder, name) }),
  });
  try {
    const { id: scriptId } = await fleet.call<{ id: string }>('POST', '/scripts', {
      name: `${runtimes} runtimes`,
      max_concurrent_runs: 1000,
    });
    const file = { content: source, encoding: 'utf-8' };
    await fleet.call('PUT', `/scripts/${scriptId}/files/main.py`, file);
    const subject = { fleet, node, runtimes, scriptId };
    const warmUp = Array.from({ length: runtimes * slotsOfRuntime * warmUpRunsPerSlot }, () => 0);
    await runLoad(subject, warmUp);
    return await work(subject);
  } finally {
    await fleet.stop();
    await rm(workFolder, { recursive: true, force: true });
  }
}

async function measureParameters(subject: Subject): Promise<RunParameters> {
  const idle = await measureUsage(subject, () => pause(idleMs));
  const idlePerSecond = divide(idle.usage, idle.seconds);
  const sequential: Run[] = [];
  for (let run = 0; run < sequentialRuns; run += 1) {
    sequential.push(...(await runLoad(subject, [0])));
  }
  const load = saturation(slotsOfRuntime, (slotsOfRuntime * 1000) / sleepMs);
  const { usage, seconds, result } = await measureUsage(subject, () =>
    withOthers(subject, () => runLoad(subject, load.arrivesAtMs)),
  );
  const { runs, others } = result;
  const cost = divide(subtract(usage, idlePerSecond, seconds), runs.length);
  const { perSecond } = resultOf(runs);
  printCost(cost, idlePerSecond, { perSecond, others });
  const { client, backend, runtime, sandbox, scheduler, Postgres: postgres } = cost.cpuMs;
  const durationsMs = runs.map((run) => Date.parse(run.finished_at) - Date.parse(run.started_at));
  // All slots were always in use. The difference is therefore the time that a slot spends on a run before and after the
  // script, which is the same for each run.
  const besidesMs = (slotsOfRuntime * 1000) / perSecond - mean(durationsMs);
  return {
    cpuMs: [client + backend, runtime + sandbox + postgres, scheduler],
    residencesMs: durationsMs.map((durationMs) => durationMs + besidesMs),
    leastWaitMs: median(resultOf(sequential).waitsMs),
    idleCpuMs: idlePerSecond.cpuMs.runtime + idlePerSecond.cpuMs.sandbox,
    others,
  };
}

async function comparePredictions(subject: Subject, parameters: RunParameters): Promise<void> {
  const { runtimes } = subject;
  const slots = runtimes * slotsOfRuntime;
  for (const load of loadsOf(parameters, runtimes, slots)) {
    const { runs, others } = await withOthers(subject, () => runLoad(subject, load.arrivesAtMs));
    // The prediction uses the load of other programs during this measurement, because that load depends on the machine
    // rather than the product.
    const predicted = predict({ ...parameters, others }, runtimes, slots, load);
    const figures = load.isSaturating ? rates : [...rates, ...waits];
    const comparison = { predicted, measured: resultOf(runs), others };
    printComparison(`${runtimes} runtime processes, ${load.name}`, figures, comparison);
  }
}

/** Requests a run at each of the given times.
 *  @returns the runs when all of them have finished */
async function runLoad(
  { fleet, scriptId }: Subject,
  arrivesAtMs: readonly number[],
): Promise<readonly Run[]> {
  const startedAtMs = performance.now();
  const requested = arrivesAtMs.map(async (atMs) => {
    await pause(Math.max(0, startedAtMs + atMs - performance.now()));
    const path = `/runs/scripts/${scriptId}/run`;
    return (await fleet.call<{ run_id: string }>('POST', path, {})).run_id;
  });
  await Promise.all(requested);
  const list = (query: string) =>
    fleet.call<{ items: readonly Run[]; next_cursor: string | null }>(
      'GET',
      `/runs?script_id=${scriptId}${query}`,
    );
  while ((await list('&status=queued,running&limit=1')).items.length > 0) await pause(pollMs);
  const runs: Run[] = [];
  for (let cursor: string | null = ''; cursor !== null && runs.length < arrivesAtMs.length;) {
    const after: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const page = await list(`&limit=${pageSize}${after}`);
    runs.push(...page.items);
    cursor = page.next_cursor;
  }
  const newest = runs.slice(0, arrivesAtMs.length);
  if (newest.some(({ status }) => status !== 'success')) throw new Error('a run did not succeed');
  return newest;
}

function resultOf(runs: readonly Run[]): LoadResult {
  return {
    perSecond: rateOf(runs.map((run) => Date.parse(run.finished_at))),
    waitsMs: runs.map((run) => Date.parse(run.started_at) - Date.parse(run.queued_at)),
  };
}

/** Measures the resource usage of all processes during `work`. */
async function measureUsage<Result>(
  { fleet, node }: Subject,
  work: () => Promise<Result>,
): Promise<{ readonly usage: Usage; readonly seconds: number; readonly result: Result }> {
  const before = await usageOf(fleet, node);
  const startedAtMs = performance.now();
  const result = await work();
  const usage = subtract(await usageOf(fleet, node), before);
  return { usage, seconds: (performance.now() - startedAtMs) / 1000, result };
}

/** Measures the share of the processors that other programs use during `work`. */
async function withOthers(
  { fleet, node }: Subject,
  work: () => Promise<readonly Run[]>,
): Promise<{ readonly runs: readonly Run[]; readonly others: number }> {
  const read = async () => {
    const own = Object.values(await cpuByPart(fleet, node)).reduce((sum, each) => sum + each, 0);
    return { own, busy: await busyMs(), atMs: performance.now() };
  };
  const before = await read();
  const runs = await work();
  const after = await read();
  const otherMs = after.busy - before.busy - (after.own - before.own);
  const others = otherMs / ((after.atMs - before.atMs) * availableParallelism());
  return { runs, others: Math.max(0, others) };
}

/** Returns the processor time of all programs on this machine, in milliseconds. */
async function busyMs(): Promise<number> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n');
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0] = line
    .split(/ +/)
    .slice(1)
    .map(Number);
  return (user + nice + system + interrupts + softInterrupts) * 10;
}

function printCost(
  cost: Usage,
  idle: Usage,
  { perSecond, others }: { readonly perSecond: number; readonly others: number },
): void {
  row('one runtime process: runs/s', `${perSecond.toFixed(1)}, ${othersText(others)}`, '–');
  for (const part of cpuParts) {
    const idleText = `${idle.cpuMs[part].toFixed(1)} ms/s idle`;
    row(`CPU time of a run: ${part}`, `${cost.cpuMs[part].toFixed(2)} ms; ${idleText}`, '–');
  }
  const total = Object.values(cost.cpuMs).reduce((sum, each) => sum + each, 0);
  row('CPU time of a run: all', `${total.toFixed(2)} ms`, '–');
  const counts = ['transactions', 'rowsWritten'] as const;
  for (const name of counts) {
    const idleText = `${idle[name].toFixed(1)} /s idle`;
    row(
      `${name === 'transactions' ? name : 'rows written'} of a run`,
      `${cost[name].toFixed(1)}; ${idleText}`,
      '–',
    );
  }
  row('write-ahead log of a run', `${(cost.walBytes / 1024).toFixed(1)} KiB`, '–');
  const tables = Object.entries(cost.tableBytes).filter(([, bytes]) => bytes >= 1);
  for (const [name, bytes] of tables.toSorted(([, one], [, other]) => other - one)) {
    row(`bytes of a run: ${name}`, bytes.toFixed(0), '–');
  }
}

const othersText = (others: number) => `other programs ${(others * 100).toFixed(0)} %`;

type Figure = readonly [name: string, of: (result: LoadResult) => number];

const rates: readonly Figure[] = [['runs/s', ({ perSecond }) => perSecond]];
/** Wait times are measured only if the load is not saturating. Under saturation, they depend only on the number of
 *  runs. */
const waits: readonly Figure[] = [
  ['mean wait, ms', ({ waitsMs }) => mean(waitsMs)],
  ['p95 wait, ms', ({ waitsMs }) => p95(waitsMs)],
];

interface Comparison {
  readonly predicted: LoadResult;
  readonly measured: LoadResult;
  readonly others: number;
}

function printComparison(
  name: string,
  figures: readonly Figure[],
  { predicted, measured, others }: Comparison,
): void {
  for (const [figure, of] of figures) {
    const [own, real] = [of(predicted), of(measured)];
    const error = ((own / real - 1) * 100).toFixed(0);
    const compared = `${own.toFixed(1)} predicted, ${real.toFixed(1)} measured (${error} %)`;
    row(`${name}: ${figure}`, `${compared}, ${othersText(others)}`, '–');
  }
}

function p95(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.95)] ?? 0;
}
