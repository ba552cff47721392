/** `make bench`: what the product costs, as ratios of two things measured in turn in one run. Prints,
 *  never fails. Bars: see docs/performance.md. */
import { performance } from 'node:perf_hooks';
import { Product } from '#services/minimal/testing/product.ts';
import { benchFirstLine } from './first-line.ts';
import { benchRequests } from './requests.ts';
import { benchThroughput } from './throughput.ts';
import { idleMemory } from './memory.ts';
import { row } from './report.ts';

const slots = { ORCH_RUNTIME_SLOTS: '2' };

// The first start makes the database; the second is what a user waits for every day.
const first = await Product.start({ variables: slots });
const again = { dataDir: first.dataDir, variables: slots };
const startMs = await timeRestart();
const product = await Product.start(again);
try {
  row(
    'start of the installed minimal edition, to a healthy answer',
    `${(startMs / 1000).toFixed(2)} s`,
    '≤ 5 s',
  );
  row('idle memory, all processes but Postgres (PSS)', await idleMemory(product), '≤ 300 MB');
  await benchFirstLine(product);
  await benchThroughput(product);
} finally {
  await product.stop();
  await first.remove();
}
await benchRequests();

async function timeRestart(): Promise<number> {
  await first.stop();
  const startedAt = performance.now();
  const restarted = await Product.start({ ...again, signIn: false });
  const elapsed = performance.now() - startedAt;
  await restarted.stop();
  return elapsed;
}
