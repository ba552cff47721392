/** Compares warm runs in the sandboxes of several source trees, without the rest of the product: `node
 *  scripts/bench/compare-sandboxes.ts ROUNDS BASE OTHER…`. Prints the same kind of medians as compare-releases.ts. */
import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import type { WarmBench } from '#services/runtime/warm/testing/warm-bench.ts';
import { cpuOf, interleave, printComparison, treesOf, type Sample } from './trees.ts';

const runs = 50;
const files = { 'main.py': "print('done')\n" };

const { rounds, folders } = treesOf('compare-sandboxes.ts');
const benches: WarmBench[] = [];
try {
  for (const folder of folders) {
    const path = resolve(folder, 'services/runtime/warm/testing/warm-bench.ts');
    const tree = (await import(pathToFileURL(path).href)) as {
      readonly WarmBench: typeof WarmBench;
    };
    const bench = await tree.WarmBench.open();
    await bench.kept(await bench.warm(files));
    benches.push(bench);
  }
  printComparison('warm, sandbox alone', folders, await interleave(benches, rounds, measure));
} finally {
  for (const bench of benches) await bench.close();
}

async function measure(bench: WarmBench): Promise<Sample> {
  const spec = await bench.warm(files);
  const before = await cpuOf(process.pid);
  const startedAt = performance.now();
  for (let run = 0; run < runs; run += 1) await bench.outcome({ ...spec, runId: `run-${run}` });
  const wallMs = (performance.now() - startedAt) / runs;
  return { wallMs, cpuMs: ((await cpuOf(process.pid)) - before) / runs };
}
