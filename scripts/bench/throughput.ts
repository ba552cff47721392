import { performance } from 'node:perf_hooks';
import type { Product } from '#services/minimal/testing/product.ts';
import { bareScript, timeBare } from './bare-python.ts';
import { areThere, completeRuns, inParallel } from './complete-runs.ts';
import { median, row } from './report.ts';
import { startModes, startRuns, type StartMode } from './start-modes.ts';

const rounds = 5;
const runs = 60;
const concurrency = 2;
const lanes = 8;
const source = "print('done')\n";

/** Measures complete runs per second through the API, queue, sandbox, logs and events. Compares the rate with plain
 *  processes. */
export async function benchThroughput(product: Product): Promise<void> {
  const scriptId = await product.script('throughput', { 'main.py': source });
  await product.call('PATCH', `/scripts/${scriptId}`, { max_concurrent_runs: 1000 });
  for (const mode of startModes) {
    await startRuns(product, scriptId, mode);
    await compareWithBare(product, scriptId, mode);
  }
}

async function compareWithBare(product: Product, scriptId: string, mode: StartMode): Promise<void> {
  const folder = bareScript(source);
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await rate(() => inParallel(runs, concurrency, () => timeBare(folder))));
    ours.push(await rate(() => completeRuns(product, scriptId, runs, lanes)));
  }
  if (await areThere(product, scriptId, '!success')) throw new Error('a run did not succeed');
  const ratio = median(ours.map((perSecond, round) => perSecond / (bare[round] ?? 1)));
  row(
    `complete runs/s, ${mode} / xargs -P2 python3`,
    `${ratio.toFixed(2)} (${median(ours).toFixed(1)}/s / ${median(bare).toFixed(1)}/s)`,
    mode === 'warm' ? '≥ 2.0' : '–',
  );
}

async function rate(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (runs * 1000) / (performance.now() - startedAt);
}
