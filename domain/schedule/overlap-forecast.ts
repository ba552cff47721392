/** Forecasts which due times overlap a run that may still be active. */

/** Typical durations of the script's runs, in milliseconds. */
export interface DurationStats {
  readonly p50_ms: number;
  readonly p95_ms: number;
}

export type OverlapForecast = 'likely' | 'possible';

/** Whether a run that started at `before` is still active at `due`: likely if the median duration exceeds the
 *  gap, possible if p95 does. */
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

/** Like `overlapAt`, for a run that is active at `now`. The end is unknown without duration statistics, or once the
 *  run has exceeded p95. */
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
