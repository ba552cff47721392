/** Compares the runs of several source trees: `node scripts/bench/compare-releases.ts ROUNDS BASE OTHER…`.
 *  Each tree is a folder of the whole product with `node_modules`. All products run at the same time and are measured
 *  in turn, in alternating order. Prints medians, and medians of the ratios OTHER / BASE of each round. */
import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { descendants, Product } from '#services/minimal/testing/product.ts';
import { completeRuns, timeFirstLine } from './complete-runs.ts';
import { median } from './report.ts';
import { startRuns, type StartMode } from './start-modes.ts';

interface Scenario {
  readonly name: string;
  readonly source: string;
  readonly mode: StartMode;
  /** Runs that are submitted at a time. */
  readonly lanes: number;
  readonly runs: number;
}

interface Sample {
  /** Median time to the first log line of single runs, or the time per run of a burst. */
  readonly wallMs: number;
  /** User and system time of all processes of the product, per run. */
  readonly cpuMs: number;
}

const empty = "print('done')\n";
const imports =
  'import json, logging, urllib.request, asyncio, datetime, pathlib, re, subprocess\n' + empty;
const scenarios: readonly Scenario[] = [
  { name: 'warm, one by one', source: empty, mode: 'warm', lanes: 1, runs: 20 },
  { name: 'warm, one by one, imports', source: imports, mode: 'warm', lanes: 1, runs: 20 },
  { name: 'warm, bursts', source: empty, mode: 'warm', lanes: 8, runs: 80 },
  { name: 'cold, bursts', source: empty, mode: 'cold', lanes: 8, runs: 30 },
];
const ticksPerSecond = 100;

const [rounds = '', ...folders] = process.argv.slice(2);
if (!(Number(rounds) > 0) || folders.length < 2) {
  console.error('usage: node scripts/bench/compare-releases.ts ROUNDS BASE OTHER…');
  process.exit(2);
}

const parent = fileURLToPath(new URL('../../.test', import.meta.url));
await mkdir(parent, { recursive: true });
const products: Product[] = [];
try {
  for (const folder of folders) {
    const dataDir = await mkdtemp(join(parent, 'bench-'));
    products.push(await Product.start({ dataDir, folder: resolve(folder) }));
  }
  for (const scenario of scenarios) await compare(scenario);
} finally {
  for (const product of products) {
    await product.stop();
    await product.remove();
  }
}

async function compare(scenario: Scenario): Promise<void> {
  const scripts = new Map<Product, string>();
  for (const product of products) {
    const id = await product.script(scenario.name, { 'main.py': scenario.source });
    await product.call('PATCH', `/scripts/${id}`, { max_concurrent_runs: 1000 });
    await startRuns(product, id, scenario.mode);
    scripts.set(product, id);
  }
  const samples = new Map(products.map((product) => [product, [] as Sample[]]));
  for (let round = 0; round <= Number(rounds); round += 1) {
    const order = round % 2 === 0 ? products : products.toReversed();
    for (const product of order) {
      const sample = await measure(product, scripts.get(product) ?? '', scenario);
      // The first round warms everything.
      if (round > 0) samples.get(product)?.push(sample);
    }
  }
  const [base = []] = samples.values();
  console.log(`${scenario.name}: ms wall, ms CPU per run (ratio to ${basename(folders[0] ?? '')})`);
  products.forEach((product, index) => {
    const own = samples.get(product) ?? [];
    const figures = (['wallMs', 'cpuMs'] as const).map((unit) => {
      const ratios = own.map((sample, round) => sample[unit] / (base[round]?.[unit] ?? 1));
      const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map((each) =>
        each.toFixed(2),
      );
      const middle = median(own.map((sample) => sample[unit])).toFixed(1);
      return `${middle.padStart(7)} (${median(ratios).toFixed(3)}, ${least} – ${most})`;
    });
    console.log(`  ${basename(folders[index] ?? '').padEnd(16)} ${figures.join('  ')}`);
  });
}

async function measure(product: Product, scriptId: string, scenario: Scenario): Promise<Sample> {
  const cpuBefore = await cpuMs(product);
  const startedAt = performance.now();
  const times: number[] = [];
  if (scenario.lanes === 1) {
    for (let run = 0; run < scenario.runs; run += 1) {
      times.push(await timeFirstLine(product, scriptId));
    }
  } else {
    await completeRuns(product, scriptId, scenario.runs, scenario.lanes);
    times.push((performance.now() - startedAt) / scenario.runs);
  }
  return { wallMs: median(times), cpuMs: ((await cpuMs(product)) - cpuBefore) / scenario.runs };
}

/** Of all processes of the product, and those that they have waited for. */
async function cpuMs(product: Product): Promise<number> {
  const pids = [product.pid, ...(await descendants(product.pid))];
  const times = pids.map(async (pid) => {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  });
  const ticks = (await Promise.all(times)).reduce((sum, each) => sum + each, 0);
  return (ticks * 1000) / ticksPerSecond;
}
