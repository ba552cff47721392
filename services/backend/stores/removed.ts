/** What is no longer kept of runs. */
import type { RemovableKind } from '#domain/system/retention.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { readProgress } from '#infra/postgres/removals.ts';
import type { RunsTable } from '#projections/runs/table.ts';

type Run = Pick<RunsTable, 'run_id' | 'finished_at'>;

/** @returns what is gone of each of the runs, but for their parameters: whether those are there shows
 *  when they are read */
export async function readRemoved(
  db: Queryable,
  runs: readonly Run[],
): Promise<(run: Run) => readonly RemovableKind[]> {
  // Whatever belongs to a run that has not ended is there.
  if (runs.every((run) => run.finished_at === null)) return () => [];
  const progress = await readProgress(
    db,
    runs.map((run) => run.run_id),
  );
  return ({ run_id: id }) =>
    progress
      .filter((place) => id <= place.run_id && !place.later.includes(id))
      .map(({ kind }) => kind);
}
