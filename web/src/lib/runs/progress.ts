import { duration } from '#lib/ui/format.ts';

/** Formats the remaining time, such as "about 4 m left". Returns null once the estimated end has passed.
 *  @param eta RFC 3339 */
export function formatRemainingTime(eta: string, nowMs: number): string | null {
  const leftMs = Date.parse(eta) - nowMs;
  if (leftMs <= 0) return null;
  // Estimates are imprecise, so they are rounded to whole seconds, or to whole minutes from 90 seconds on.
  const stepMs = leftMs < 90_000 ? 1000 : 60_000;
  const roundedMs = Math.ceil(leftMs / stepMs) * stepMs;
  if (roundedMs < 90_000) return `about ${Math.round(roundedMs / 1000)} s left`;
  const minutes = roundedMs / 60_000;
  return minutes < 60 ? `about ${minutes} min left` : `about ${duration(roundedMs)} left`;
}
