import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#domain/ports/clock.ts';
import type { ReadModels } from '#projections/projection.ts';
import { nextDueAt } from '#projections/schedules/due.ts';

/** Waits for the first due time after `served` where that comes before the next look, so that runs start
 *  in time.
 *  @returns whether it has come */
export async function untilDue(
  { reads, clock }: { readonly reads: ReadModels; readonly clock: Clock },
  served: Date,
  nextLookMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const due = await nextDueAt(reads, served);
  const waitMs = due === undefined ? Infinity : due.getTime() - clock.now().getTime();
  if (waitMs > nextLookMs) return false;
  await sleep(Math.max(0, waitMs), undefined, { signal });
  return true;
}
