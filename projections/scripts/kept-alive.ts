/** Finds always-on scripts without an active run. */
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import { newestRuns } from '../runs/newest.ts';

export interface IdleScript {
  readonly script_id: string;
  readonly version: number;
  readonly updated_at: Date;
  /** The latest runs of the script, newest first. */
  readonly last_runs: readonly EndedRun[];
}

export interface EndedRun {
  readonly run_id: string;
  readonly script_version: number;
  /** In RFC 3339 format. */
  readonly finished_at: string;
  /** `null` if the run never started. */
  readonly duration_ms: number | null;
}

/** @param runs the number of latest runs to return for each script */
export async function idleScripts(db: ReadModels, runs: number): Promise<readonly IdleScript[]> {
  const last = newestRuns({
    columns: 'run_id, script_version, finished_at, duration_ms',
    of: 's.script_id',
    limit: runs,
  });
  const { rows } = await sql<IdleScript>`
    SELECT s.script_id, s.version, s.updated_at,
      coalesce((SELECT json_agg(last) FROM (${sql.raw(last)}) last), '[]') AS last_runs
    FROM scripts s
    WHERE s.keep_alive AND s.enabled AND NOT s.deleted
      AND NOT EXISTS (SELECT FROM trigger_state WHERE paused) AND NOT EXISTS (
      SELECT FROM run_queue q WHERE q.script_id = s.script_id AND NOT q.approval_pending)
    ORDER BY s.script_id`.execute(db);
  return rows;
}
