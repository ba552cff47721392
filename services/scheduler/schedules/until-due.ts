import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#domain/ports/clock.ts';
import type { ReadModels } from '#projections/projection.ts';
import { nextDueAt } from '#projections/schedules/due.ts';

/** Waits for the next due time where that comes before the next look, so that runs start in time.
 *  @returns whether it has come */
export async function untilDue(
  { reads, clock }: { readonly reads: ReadModels; readonly clock: Clock },
  nextLookMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const due = await nextDueAt(reads);
  const waitMs = due === undefined ? Infinity : due.getTime() - clock.now().getTime();
  // One that is over waits for something else than time.
  if (waitMs <= 0 || waitMs > nextLookMs) return false;
  await sleep(waitMs, undefined, { signal });
  return true;
}
