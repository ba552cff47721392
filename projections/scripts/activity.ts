/** Reads the latest runs of scripts and the scripts' next due times. */
import type { RunStatus } from '#domain/run/run.ts';
import type { ReadModels } from '../projection.ts';
import { newestRuns } from '../runs/newest.ts';
import { statement } from '../statement.ts';

const shownRuns = 10;

export interface RecentRun {
  readonly run_id: string;
  readonly status: RunStatus;
  /** ISO 8601. `null` until the run has ended. */
  readonly finished_at: string | null;
  /** Duration of the run's process in milliseconds. */
  readonly duration_ms: number | null;
}

export interface ScriptActivity {
  /** The ten latest runs, newest first. */
  readonly recent_runs: readonly RecentRun[];
  /** The earliest next due time of the script's schedules. */
  readonly next_fire_at: Date | null;
}

const latest = newestRuns({
  columns: 'run_id, status, finished_at, duration_ms',
  of: 'asked.script_id',
  limit: shownRuns,
});
const read = statement<ScriptActivity & { readonly script_id: string }>(`
  SELECT asked.script_id,
    (SELECT coalesce(json_agg(json_build_object('run_id', run_id, 'status', status,
        'finished_at', to_char(finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'duration_ms', duration_ms)
      ORDER BY run_id DESC), '[]')
      FROM (${latest}) latest) AS recent_runs,
    (SELECT min(next_fire_at) FROM schedules c WHERE c.script_id = asked.script_id) AS next_fire_at
  FROM unnest($1::uuid[]) AS asked (script_id)`);

/** Returns the activity of each script. The activity of an unknown script is empty. */
export async function readActivity(
  db: ReadModels,
  scriptIds: readonly string[],
): Promise<ReadonlyMap<string, ScriptActivity>> {
  const rows = await read(db, scriptIds);
  return new Map(rows.map(({ script_id: id, ...activity }) => [id, activity]));
}
