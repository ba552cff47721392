/** Reports which data of a run was removed. */
import type { RemovableKind } from '#domain/system/retention.ts';
import type { Queryable } from '../database.ts';
import { kindsOfRun, readProgress } from './removals.ts';

interface Run {
  readonly run_id: string;
  readonly script_id: string;
  readonly finished_at: Date | null;
}

const purged = `SELECT script_id FROM scripts
  WHERE script_id = ANY($1::uuid[]) AND purge IS NOT NULL`;

/**
 * @returns a function that lists the removed data of a run. Parameters are not listed, because reading them reveals
 * whether they still exist
 */
export async function readRemoved(
  db: Queryable,
  runs: readonly Run[],
): Promise<(run: Run) => readonly RemovableKind[]> {
  // No data of active runs has been removed.
  if (runs.every((run) => run.finished_at === null)) return () => [];
  const runIds = runs.map((run) => run.run_id);
  const scriptIds = [...new Set(runs.map((run) => run.script_id))];
  const [progress, { rows }] = await Promise.all([
    readProgress(db, runIds),
    db.query<{ script_id: string }>(purged, [scriptIds]),
  ]);
  const purgedScripts = new Set(rows.map((row) => row.script_id));
  return ({ run_id: id, script_id: scriptId }) =>
    purgedScripts.has(scriptId)
      ? kindsOfRun
      : progress
          .filter((place) => id <= place.run_id && !place.later.includes(id))
          .map(({ kind }) => kind);
}
