/** Forecasts whether a previous run may still be active at a due time. */

/** Typical durations of a script's runs, in milliseconds. */
export interface DurationStats {
  readonly p50_ms: number;
  readonly p95_ms: number;
}

export type OverlapForecast = 'likely' | 'possible';

/** Whether a run that started at `before` will still be active at `due`. This is likely if the p50 duration exceeds
 *  the time between them, and possible if the p95 duration does. */
export function overlapAt(
  before: Date | undefined,
  due: Date,
  usual: DurationStats | undefined,
): OverlapForecast | undefined {
  if (before === undefined || usual === undefined) return undefined;
  const gapMs = due.getTime() - before.getTime();
  if (usual.p50_ms > gapMs) return 'likely';
  return usual.p95_ms > gapMs ? 'possible' : undefined;
}

/** Like `overlapAt`, but for a run that is active at `now`. The end of the run is unknown if there are no duration
 *  statistics, or if the run has already exceeded the p95. */
export function forecastOverlap(
  startedAt: Date,
  now: Date,
  due: Date,
  usual: DurationStats | undefined,
): OverlapForecast | undefined {
  const elapsedMs = now.getTime() - startedAt.getTime();
  if (usual === undefined || elapsedMs > usual.p95_ms) return 'possible';
  return overlapAt(startedAt, due, usual);
}
