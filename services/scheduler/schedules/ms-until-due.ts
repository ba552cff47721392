import type { Clock } from '#domain/ports/clock.ts';
import type { ReadModels } from '#projections/projection.ts';
import { nextDueAt } from '#projections/schedules/due.ts';

/** Milliseconds until the first due time after `served`, so that runs start in time: 0 if it has passed, infinity if
 *  nothing is ever due. */
export async function msUntilDue(
  { reads, clock }: { readonly reads: ReadModels; readonly clock: Clock },
  served: Date,
): Promise<number> {
  const due = await nextDueAt(reads, served);
  if (due === undefined) return Infinity;
  return Math.max(0, due.getTime() - clock.now().getTime());
}
