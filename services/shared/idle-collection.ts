/** Frees the garbage of idle processes. V8 collects garbage only while a process allocates memory. Otherwise, garbage
 *  from the start of the process or from a burst of work would remain. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const everyMs = 10_000;
/** Maximum processor time of an idle process in a period. */
const maxIdleMs = 500;
/** The minimum growth of the heap for a collection. A collection blocks the process for about 30 ms. */
const minGrowthBytes = 4 * 1024 * 1024;

export interface Collector {
  /** Ends a period. Collects garbage if the process was idle in the period and the heap has grown since the last
   *  collection. */
  check(): void;
}

export interface CollectorDeps {
  readonly collect: () => void;
  /** The current size of the heap. */
  readonly heapBytes: () => number;
  /** The processor time that the process has used. */
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

/** Starts to collect in this process. */
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

/** Sets the flag here and not on the command line, because Node caches compiled code separately for each set of
 *  flags. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  gc();
}
