/** Compares the speed of runs between source trees: `node scripts/bench/compare-releases.ts ROUNDS BASE OTHER…`. Each
 *  tree is a folder that contains the whole product and its `node_modules`. All products run at the same time and are
 *  measured in turn, in a different order each round. To see the measurement noise, pass the same tree twice. */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { Product } from '#services/minimal/testing/product.ts';
import { completeRuns, timeFirstLine } from './complete-runs.ts';
import { median } from './report.ts';
import { startRuns, type StartMode } from './start-modes.ts';
import { cpuOf, interleave, printComparison, treesOf, type Sample } from './trees.ts';

interface Scenario {
  readonly name: string;
  readonly source: string;
  readonly mode: StartMode | 'resident';
  /** The number of concurrent submissions. With 1, the wall time is the time to the first log line. */
  readonly lanes: number;
  readonly runs: number;
}

const empty = "print('done')\n";
const imports =
  'import json, logging, urllib.request, asyncio, datetime, pathlib, re, subprocess\n' + empty;
const handler = "def handler(event, context):\n    print('done')\n";
const scenarios: readonly Scenario[] = [
  { name: 'warm, one by one', source: empty, mode: 'warm', lanes: 1, runs: 30 },
  { name: 'warm, one by one, imports', source: imports, mode: 'warm', lanes: 1, runs: 30 },
  { name: 'warm, bursts', source: empty, mode: 'warm', lanes: 8, runs: 150 },
  { name: 'cold, bursts', source: empty, mode: 'cold', lanes: 8, runs: 30 },
  { name: 'resident, one by one', source: handler, mode: 'resident', lanes: 1, runs: 50 },
  { name: 'resident, bursts', source: handler, mode: 'resident', lanes: 8, runs: 200 },
];

const { rounds, folders } = treesOf('compare-releases.ts');
const parent = fileURLToPath(new URL('../../.test', import.meta.url));
await mkdir(parent, { recursive: true });
const products: Product[] = [];
try {
  for (const folder of folders) {
    const dataDir = await mkdtemp(join(parent, 'bench-'));
    products.push(await Product.start({ dataDir, folder: resolve(folder) }));
  }
  for (const scenario of scenarios) {
    const scripts: string[] = [];
    for (const product of products) scripts.push(await scriptOf(product, scenario));
    const samples = await interleave(products, rounds, (product, index) =>
      measure(product, scripts[index] ?? '', scenario),
    );
    printComparison(scenario.name, folders, samples);
  }
} finally {
  for (const product of products) {
    await product.stop();
    await product.remove();
  }
}

async function scriptOf(
  product: Product,
  { name, source, mode, lanes }: Scenario,
): Promise<string> {
  const resident = { max_runs: 1_000_000, processes: lanes };
  const settings = { max_concurrent_runs: 1000, resident };
  const id = await product.script(name, { 'main.py': source }, settings);
  await startRuns(product, id, mode);
  return id;
}

async function measure(
  product: Product,
  scriptId: string,
  { lanes, runs }: Scenario,
): Promise<Sample> {
  const before = await cpuOf(product.pid);
  const startedAt = performance.now();
  const times: number[] = [];
  if (lanes === 1) {
    for (let run = 0; run < runs; run += 1) times.push(await timeFirstLine(product, scriptId));
  } else {
    await completeRuns(product, scriptId, runs, lanes);
    times.push((performance.now() - startedAt) / runs);
  }
  return { wallMs: median(times), cpuMs: ((await cpuOf(product.pid)) - before) / runs };
}
