/** Metrics of every process, with the same names as in Prometheus's client libraries. They are measured only at a
 *  scrape, so that idle processes stay idle. */
import { readdir } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { RunEnds } from './run-ends.ts';

export function addProcessMetrics(registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the process since the epoch',
    registers,
  }).set(performance.timeOrigin / 1000);
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: 'process_open_fds',
    help: 'Open file descriptors',
    registers,
    async collect() {
      this.set((await readdir('/proc/self/fd').catch(() => [])).length);
    },
  });
  let counted = 0;
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      const seconds = (user + system) / 1_000_000;
      this.inc(seconds - counted);
      counted = seconds;
    },
  });
}

export interface ClockDifference {
  /** How far the machine's clock is ahead of the database's clock; negative if it is behind. */
  readonly differenceSeconds: number;
}

export function addClockMetric(registry: Registry, clock: ClockDifference): void {
  new Gauge({
    name: 'orchestrator_clock_difference_seconds',
    help: "How far the clock of the process is ahead of the database's",
    registers: [registry],
    collect() {
      this.set(clock.differenceSeconds);
    },
  });
}

/**
 * Adds the counter of finished runs, for processes that record outcomes. Exactly one process counts each run, so the
 * counters can be summed.
 */
export function addRunEndMetric(registry: Registry, runEnds: RunEnds): void {
  new Counter({
    name: 'orchestrator_runs_finished_total',
    help: 'Run ends recorded by this process, by outcome and trigger',
    labelNames: ['outcome', 'trigger'] as const,
    registers: [registry],
    async collect() {
      const counts = await runEnds.counts();
      this.reset();
      for (const { outcome, trigger, count } of counts) this.inc({ outcome, trigger }, count);
    },
  });
}
