import type { Clock } from '#domain/ports/clock.ts';
import type { ReadModels } from '#projections/projection.ts';
import { nextDueAt } from '#projections/schedules/due.ts';

/** Milliseconds until the first due time after `served`, so that its run starts on time. 0 if the due time has passed;
 *  infinity if there is no further due time. */
export async function msUntilDue(
  { reads, clock }: { readonly reads: ReadModels; readonly clock: Clock },
  served: Date,
): Promise<number> {
  const due = await nextDueAt(reads, served);
  if (due === undefined) return Infinity;
  return Math.max(0, due.getTime() - clock.now().getTime());
}
