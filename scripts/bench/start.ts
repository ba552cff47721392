import { performance } from 'node:perf_hooks';
import { Product } from '#services/minimal/testing/product.ts';
import { idleMemory } from './memory.ts';
import { row } from './report.ts';

/** Measures the duration of a normal start, and the resource usage of an idle platform. */
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
  } finally {
    await again.stop();
    await first.remove();
  }
}
