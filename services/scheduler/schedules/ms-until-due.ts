import type { Clock } from '#domain/ports/clock.ts';
import type { ReadModels } from '#projections/projection.ts';
import { nextDueAt } from '#projections/schedules/due.ts';

/** Returns the number of milliseconds until the first due time after `served`, so that its run can start on time.
 *  Returns 0 if the due time has passed, and Infinity if none exists. */
export async function msUntilDue(
  { reads, clock }: { readonly reads: ReadModels; readonly clock: Clock },
  served: Date,
): Promise<number> {
  const due = await nextDueAt(reads, served);
  if (due === undefined) return Infinity;
  return Math.max(0, due.getTime() - clock.now().getTime());
}
