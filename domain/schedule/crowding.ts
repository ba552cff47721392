/** Which due times meet a run that may still be under way. */

/** How long runs of the script usually take, in milliseconds. */
export interface Usual {
  readonly p50_ms: number;
  readonly p95_ms: number;
}

export type OverlapForecast = 'likely' | 'possible';

/** Whether a run that began at `before` is still under way at `due`: likely where half of all take longer, possible
 *  where more than 5 of 100 do. */
export function overlapAt(
  before: Date | undefined,
  due: Date,
  usual: Usual | undefined,
): OverlapForecast | undefined {
  if (before === undefined || usual === undefined) return undefined;
  const gapMs = due.getTime() - before.getTime();
  if (usual.p50_ms > gapMs) return 'likely';
  return usual.p95_ms > gapMs ? 'possible' : undefined;
}

/** The same of a run that goes on at `now`. When it ends cannot be told where no run is known to have ended, nor where
 *  it has taken longer than nearly all. */
export function overlapOfGoing(
  startedAt: Date,
  now: Date,
  due: Date,
  usual: Usual | undefined,
): OverlapForecast | undefined {
  const elapsedMs = now.getTime() - startedAt.getTime();
  if (usual === undefined || elapsedMs > usual.p95_ms) return 'possible';
  return overlapAt(startedAt, due, usual);
}
