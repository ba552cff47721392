/** Prometheus metrics of the whole service: reader lag, queue sizes and the growth of the event store. They are
 *  measured at each scrape, and every scheduler reports the same values. */
import { Gauge, Registry } from 'prom-client';
import type { AlarmDeps } from '#services/shared/alarms.ts';
import {
  labelFigures,
  queueFigures,
  storeFigures,
} from '#infra/postgres/operations/platform-figures.ts';
import {
  addClockMetric,
  addProcessMetrics,
  type ClockDifference,
} from '#services/shared/process-metrics.ts';
import { addAlarmMetrics } from './alarm-metrics.ts';
import { addLagMetrics } from './reader-lag.ts';

/** @param isBusUp returns whether the bus is connected */
export function schedulerMetrics(
  deps: AlarmDeps,
  clock: ClockDifference,
  isBusUp: () => boolean,
): Registry {
  const { database: db } = deps;
  const registry = new Registry();
  const registers = [registry];
  addProcessMetrics(registry);
  addClockMetric(registry, clock);
  addLagMetrics(db, registry);
  addAlarmMetrics(deps, registry);
  new Gauge({
    name: 'orchestrator_bus_up',
    help: 'Whether the message bus is connected: 1, or 0 while polling',
    registers,
    collect() {
      this.set(isBusUp() ? 1 : 0);
    },
  });
  const queue = joined(() => queueFigures(db));
  new Gauge({
    name: 'orchestrator_queue_runs',
    help: 'Runs that have not ended: due to start, waiting for a slot or a later time, running',
    labelNames: ['state'] as const,
    registers,
    async collect() {
      const { due, waiting, running } = await queue();
      this.set({ state: 'due' }, due);
      this.set({ state: 'waiting' }, waiting);
      this.set({ state: 'running' }, running);
    },
  });
  new Gauge({
    name: 'orchestrator_queue_label_runs',
    help: 'Runs that have not ended, by each runtime label that they require',
    labelNames: ['label', 'state'] as const,
    registers,
    async collect() {
      const figures = await labelFigures(db);
      this.reset();
      for (const { label, due, waiting, running } of figures) {
        this.set({ label, state: 'due' }, due);
        this.set({ label, state: 'waiting' }, waiting);
        this.set({ label, state: 'running' }, running);
      }
    },
  });
  const store = joined(() => storeFigures(db));
  const gauge = (name: string, help: string, valueOf: () => Promise<number>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await valueOf());
      },
    });
  gauge(
    'orchestrator_queue_oldest_seconds',
    'How long the next run in the queue has been due without being claimed',
    async () => (await queue()).oldestSeconds,
  );
  gauge(
    'orchestrator_event_store_position',
    'Position of the newest event',
    async () => (await store()).position,
  );
  gauge(
    'orchestrator_database_oldest_transaction_seconds',
    'Age of the oldest open write transaction, which delays event readers',
    async () => (await store()).oldestTransactionSeconds,
  );
  gauge(
    'orchestrator_database_connections',
    'Database connections of all programs',
    async () => (await store()).connections,
  );
  gauge(
    'orchestrator_database_size_bytes',
    'Disk space used by the database',
    async () => (await store()).sizeBytes,
  );
  return registry;
}

/** Makes concurrent callers share one read. */
function joined<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | undefined;
  return () => (reading ??= read().finally(() => (reading = undefined)));
}
