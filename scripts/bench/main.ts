/** `make bench` measures the cost of the product as ratios of two measurements, which alternate in one run. Prints the
 *  ratios, and succeeds even if a target is missed. `make bench ARGS='queue logs'` measures only these subjects.
 *  docs/performance.md contains the targets and the results. */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Product } from '#services/minimal/testing/product.ts';
import { benchErrorGroups } from './error-groups.ts';
import { benchFailover } from './failover.ts';
import { benchFirstLine } from './first-line.ts';
import { benchManyRuns } from './many-runs.ts';
import { benchListPages } from './list-pages.ts';
import { benchLogDelivery } from './log-delivery.ts';
import { benchLogStorage } from './log-storage.ts';
import { benchLogViewer } from './log-viewer.ts';
import { benchLongStreams } from './long-streams.ts';
import { benchPages } from './pages.ts';
import { benchPartitions } from './partitions.ts';
import { benchProjections } from './projections.ts';
import { benchQueue } from './queue.ts';
import { benchRequests } from './requests.ts';
import { benchResident } from './resident.ts';
import { benchRivals } from './rivals.ts';
import { benchScale } from './scale.ts';
import { benchStart } from './start.ts';
import { benchStore } from './store.ts';
import { benchTriggers } from './triggers.ts';
import { benchThroughput } from './throughput.ts';

/** The benchmarks by name. Each is one file that prints rows. Add new benchmarks here. */
const subjects: Readonly<Record<string, () => Promise<void>>> = {
  start: benchStart,
  'first-line': () => onProduct(benchFirstLine),
  throughput: () => onProduct(benchThroughput),
  resident: () => onProduct(benchResident),
  requests: benchRequests,
  triggers: benchTriggers,
  store: benchStore,
  queue: benchQueue,
  projections: benchProjections,
  'error-groups': benchErrorGroups,
  'log-storage': benchLogStorage,
  'log-delivery': () => onProduct(benchLogDelivery),
  'log-viewer': () => onProduct(benchLogViewer),
  pages: () => onProduct(benchPages),
  lists: () => onProduct(benchListPages),
  'many-runs': benchManyRuns,
  failover: benchFailover,
  'long-streams': () => onProduct(benchLongStreams),
  scale: benchScale,
  partitions: benchPartitions,
  peers: benchRivals,
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in subjects));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}: ${Object.keys(subjects).join(', ')}`);
  process.exitCode = 2;
} else {
  for (const [name, measure] of Object.entries(subjects)) {
    if (names.length === 0 || names.includes(name)) await measure();
  }
}

/** Starts the product with its default settings. Its data must not be below `/tmp`, because the sandbox replaces
 *  `/tmp`. */
async function onProduct(measure: (product: Product) => Promise<void>): Promise<void> {
  const parent = fileURLToPath(new URL('../../.test', import.meta.url));
  await mkdir(parent, { recursive: true });
  const product = await Product.start({ dataDir: await mkdtemp(join(parent, 'bench-')) });
  try {
    await measure(product);
  } finally {
    await product.stop();
    await product.remove();
  }
}
