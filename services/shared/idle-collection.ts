/** Collects garbage in idle processes. V8 collects garbage only while a process allocates memory. Without this module,
 *  garbage from the startup or from a burst of work would stay in memory. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const everyMs = 10_000;
/** The maximum CPU time per period of a process that counts as idle. */
const maxIdleMs = 500;
/** The minimum heap growth that justifies a collection, which blocks the process for 30 to 70 ms. */
const minGrowthBytes = 4 * 1024 * 1024;

export interface Collector {
  /** Ends a period. Collects garbage if the process was idle during the period and the heap has grown since the last
   *  collection. */
  check(): void;
}

export interface CollectorDeps {
  readonly collect: () => void;
  /** Returns the current heap size. */
  readonly heapBytes: () => number;
  /** Returns the CPU time that the process has used. */
  readonly cpuMs: () => number;
}

export function createCollector({ collect, heapBytes, cpuMs }: CollectorDeps): Collector {
  let collectedBytes = 0;
  let usedMs = cpuMs();
  return {
    check() {
      const beforeMs = usedMs;
      usedMs = cpuMs();
      if (usedMs - beforeMs > maxIdleMs) return;
      if (heapBytes() - collectedBytes < minGrowthBytes) return;
      collect();
      collectedBytes = heapBytes();
    },
  };
}

/** Starts collecting garbage in this process while it is idle. */
export function collectWhenIdle(): void {
  const collector = createCollector({
    collect,
    heapBytes: () => getHeapStatistics().total_heap_size,
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
  });
  setInterval(() => collector.check(), everyMs).unref();
}

/** Sets the flag at run time, because Node caches compiled code separately for each set of command-line flags. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  // Other kinds of collection keep the pages that they free, up to 36 MB after a burst.
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
