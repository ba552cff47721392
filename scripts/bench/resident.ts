/** Compares resident handlers with plain interpreters that execute the same script. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { descendants, type Product } from '#services/minimal/testing/product.ts';
import { bareScript, timeBare } from './bare-python.ts';
import { areThere, completeRuns, inParallel, timeFirstLine } from './complete-runs.ts';
import { median, row } from './report.ts';

const rounds = 20;
const runsAtOnce = 8;
const concurrentBareRuns = 2;
const runsPerRound = 100;
const throughputRounds = 5;
const defaultLongRuns = 10_000;

const imports = 'import pandas\n';
const body = "print('first', flush=True)\n";
const handlerOf = (source: string) => `${source}def handler(event, context):\n    ${body}`;

/** `ORCH_BENCH_RUNS` sets the number of consecutive runs after which memory is compared. */
export async function benchResident(product: Product): Promise<void> {
  await compareFirstLine(product);
  await compareThroughput(product);
  await compareMemory(product, Number(process.env['ORCH_BENCH_RUNS'] ?? defaultLongRuns));
}

async function residentScript(product: Product, source: string, requirements = '') {
  const files = { 'main.py': handlerOf(source), 'requirements.txt': requirements };
  const resident = { max_runs: 1_000_000, processes: runsAtOnce };
  const settings = { start_mode: 'resident', resident, max_concurrent_runs: 1000 };
  const scriptId = await product.script('resident', files, settings);
  const { run_id: runId } = await product.run(scriptId);
  const { status } = await product.untilFinished(runId);
  if (status !== 'success') throw new Error('the first run did not succeed');
  return scriptId;
}

async function compareFirstLine(product: Product): Promise<void> {
  const scriptId = await residentScript(product, imports, 'pandas\n');
  const folder = bareScript(imports + body);
  const python = await interpreterOf(product);
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await timeBare(folder, python));
    ours.push(await timeFirstLine(product, scriptId));
  }
  const ratio = median(ours.map((ms, round) => ms / (bare[round] ?? 1)));
  const times = `${median(ours).toFixed(1)} ms / ${median(bare).toFixed(1)} ms`;
  row(
    'POST → first log line / bare python, resident, pandas',
    `${ratio.toFixed(3)} (${times})`,
    '≤ 0.02',
  );
}

/** Returns the interpreter of the environment with pandas. */
async function interpreterOf(product: Product): Promise<string> {
  const folders = await readdir(product.dataDir, { recursive: true });
  const found = folders.find((path) => path.endsWith('site-packages/pandas'));
  if (found === undefined) throw new Error('the environment has no pandas');
  return join(product.dataDir, found, '../../../../bin/python');
}

async function compareThroughput(product: Product): Promise<void> {
  const scriptId = await residentScript(product, '');
  const folder = bareScript(body);
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < throughputRounds; round += 1) {
    bare.push(
      await rate(() => inParallel(runsPerRound, concurrentBareRuns, () => timeBare(folder))),
    );
    ours.push(await rate(() => completeRuns(product, scriptId, runsPerRound, runsAtOnce)));
  }
  if (await areThere(product, scriptId, '!success')) throw new Error('a run did not succeed');
  const ratio = median(ours.map((perSecond, round) => perSecond / (bare[round] ?? 1)));
  const rates = `${median(ours).toFixed(1)}/s / ${median(bare).toFixed(1)}/s`;
  row('complete runs/s, resident / xargs -P2 python3', `${ratio.toFixed(2)} (${rates})`, '≥ 3.0');
}

/** Measures the resident memory of the handler's process and its supervisors, before and after many runs. */
async function compareMemory(product: Product, runs: number): Promise<void> {
  const scriptId = await residentScript(product, '# memory\n');
  const warmUp = 100;
  await runInTurn(product, scriptId, warmUp);
  const before = await residentMemory(product);
  await runInTurn(product, scriptId, runs);
  const after = await residentMemory(product);
  if (await areThere(product, scriptId, '!success')) throw new Error('a run did not succeed');
  row(
    `memory of the resident processes after ${runs} runs (RSS)`,
    `${before.toFixed(1)} MB → ${after.toFixed(1)} MB`,
    'no growth',
  );
}

/** Waits for each run to finish before starting the next, so that one process executes all runs. */
async function runInTurn(product: Product, scriptId: string, runs: number): Promise<void> {
  for (let run = 0; run < runs; run += 1) await timeFirstLine(product, scriptId);
}

async function residentMemory(product: Product): Promise<number> {
  let bytes = 0;
  for (const pid of await descendants(product.pid)) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const isOurs = command.includes('_resident.py') || command.includes('launcher.py');
    const status = isOurs ? await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '') : '';
    bytes += 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }
  return bytes / 1024 ** 2;
}

async function rate(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (runsPerRound * 1000) / (performance.now() - startedAt);
}
