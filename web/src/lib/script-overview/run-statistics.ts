/** Calculates statistics of a script's latest runs. */
import type { Run } from '#lib/api/types.ts';

export interface RunStatistics {
  /** The number of runs that succeeded or failed. */
  readonly decided: number;
  /** The share of successful runs, from 0 to 1, or null if no run succeeded or failed. */
  readonly successRate: number | null;
  /** Duration percentiles of finished runs, in milliseconds, or null if no run succeeded or failed. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

export function runStatistics(runs: readonly Pick<Run, 'status' | 'duration_ms'>[]): RunStatistics {
  const decided = runs.filter(({ status }) => status === 'success' || status === 'failed');
  const good = decided.filter(({ status }) => status === 'success').length;
  const durations = decided
    .flatMap(({ duration_ms: ms }) => (ms === null ? [] : [ms]))
    .toSorted((one, other) => one - other);
  const at = (part: number) => durations[Math.ceil(part * durations.length) - 1] ?? null;
  return {
    decided: decided.length,
    successRate: decided.length === 0 ? null : good / decided.length,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
  };
}
