/** The runtime's Prometheus metrics. Run and script IDs are never labels, because each ID would create a time
 *  series. */
import { failures } from '#domain/run/run.ts';
import { queryOutcomes } from '#infra/postgres/script-queries/query-answer.ts';
import type { QueryMetrics } from '#infra/postgres/script-queries/script-queries.ts';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { addProcessMetrics } from '#services/shared/process-metrics.ts';

export interface RunMetrics {
  readonly registry: Registry;
  /** Records that a process was started. */
  readonly started: (queuedAt: Date) => void;
  /** Records the outcome of a run.
   *  @param seconds the duration of the run's process, or 0 if no process was started */
  readonly ended: (outcome: string, seconds: number) => void;
  readonly queries: QueryMetrics;
}

/** Values that are read at each scrape. */
export interface RuntimeState {
  readonly running: () => number;
  /** The number of script queries that are waiting for a connection. */
  readonly waitingQueries: () => number;
  /** The number of abandoned script queries that the database is still executing. */
  readonly abandonedQueries: () => number;
}

export function runtimeMetrics(slots: number, state: RuntimeState): RunMetrics {
  const registry = new Registry();
  const registers = [registry];
  addProcessMetrics(registry);
  new Gauge({
    name: 'orchestrator_runtime_slots',
    help: 'Runs that this runtime executes concurrently',
    registers,
  }).set(slots);
  new Gauge({
    name: 'orchestrator_runtime_running',
    help: 'Slots in use',
    registers,
    collect() {
      this.set(state.running());
    },
  });
  const waits = new Histogram({
    name: 'orchestrator_run_queue_seconds',
    help: 'Time from the request for a run to the start of its process',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3600],
    registers,
  });
  const durations = new Histogram({
    name: 'orchestrator_run_duration_seconds',
    help: 'Wall-clock time of run processes',
    labelNames: ['outcome'] as const,
    buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400],
    registers,
  });
  // Initializes each counter with 0, because Prometheus shows no increase for a counter that first appears with the
  // value 1.
  for (const outcome of ['success', 'stopped', ...failures]) durations.zero({ outcome });
  return {
    registry,
    queries: queryMetrics(registry, state),
    started: (queuedAt) => waits.observe(Math.max(0, Date.now() - queuedAt.getTime()) / 1000),
    ended: (outcome, seconds) => durations.observe({ outcome }, seconds),
  };
}

function queryMetrics(registry: Registry, state: RuntimeState): QueryMetrics {
  const registers = [registry];
  new Gauge({
    name: 'orchestrator_script_queries_waiting',
    help: 'Script queries waiting for a connection',
    registers,
    collect() {
      this.set(state.waitingQueries());
    },
  });
  new Gauge({
    name: 'orchestrator_script_queries_abandoned',
    help: 'Script queries that could not be canceled and continue in the database',
    registers,
    collect() {
      this.set(state.abandonedQueries());
    },
  });
  const waits = new Histogram({
    name: 'orchestrator_script_query_wait_seconds',
    help: 'Time that script queries waited for a connection',
    buckets: [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  const ends = new Counter({
    name: 'orchestrator_script_queries_total',
    help: 'Script queries by outcome',
    labelNames: ['outcome'] as const,
    registers,
  });
  for (const outcome of queryOutcomes) ends.inc({ outcome }, 0);
  return {
    waited: (seconds) => waits.observe(seconds),
    ended: (outcome) => ends.inc({ outcome }),
  };
}
