import { performance } from 'node:perf_hooks';
import { Product } from '#services/minimal/testing/product.ts';
import { completeRuns } from './complete-runs.ts';
import { idleMemory } from './memory.ts';
import { row } from './report.ts';
import { startRuns } from './start-modes.ts';

const [runs, lanes] = [1_000, 8];

/** Measures the duration of a normal start, and the memory of an idle platform before and after runs. */
export async function benchStart(): Promise<void> {
  // The first start creates the database, so it is not measured.
  const first = await Product.start();
  await first.stop();
  const startedAt = performance.now();
  const again = await Product.start({ dataDir: first.dataDir, signIn: false });
  const startMs = performance.now() - startedAt;
  try {
    row(
      'start of the installed minimal edition, to a healthy answer',
      `${(startMs / 1000).toFixed(2)} s`,
      '≤ 5 s',
    );
    row('idle memory, all processes but Postgres (PSS)', await idleMemory(again), '≤ 150 MB');
    await again.signIn();
    const scriptId = await again.script('memory', { 'main.py': "print('done')\n" });
    await again.call('PATCH', `/scripts/${scriptId}`, { max_concurrent_runs: runs });
    await startRuns(again, scriptId, 'warm');
    await completeRuns(again, scriptId, runs, lanes);
    row(
      `memory after ${runs} runs, with Postgres (PSS)`,
      await idleMemory(again, true),
      '≤ 200 MB',
    );
  } finally {
    await again.stop();
    await first.remove();
  }
}
