import type { RecentRun, UsualDuration } from '#lib/api/types.ts';
import { duration } from '#lib/ui/format.ts';

/** Estimates the remaining time of a run from the time that has elapsed. */
export function remaining(
  elapsedMs: number,
  { p50_ms: half, p95_ms: most }: Pick<UsualDuration, 'p50_ms' | 'p95_ms'>,
): string {
  if (elapsedMs < half) return `about ${duration(half - elapsedMs)} left`;
  return elapsedMs < most ? 'almost done' : 'longer than usual';
}

/** Describes how long a script's runs usually take. */
export function describeDurations({
  p50_ms: half,
  p95_ms: most,
}: Pick<UsualDuration, 'p50_ms' | 'p95_ms'>): string {
  return `usually ${duration(half)}, p95 ${duration(most)}`;
}

/** Returns the median duration of successful runs, or undefined if no run succeeded. */
export function medianMs(
  runs: readonly Pick<RecentRun, 'status' | 'duration_ms'>[],
): number | undefined {
  const times = runs.flatMap(({ status, duration_ms: ms }) =>
    status === 'success' && ms !== null ? [ms] : [],
  );
  return times.toSorted((one, other) => one - other)[times.length >> 1];
}
