/** Queries for an update's self-check, which runs one script on the new release. */
import type { Queryable } from '../database.ts';

const statements = {
  run: `SELECT status, failure_reason, queued_at, output FROM runs LEFT JOIN run_reports USING (run_id)
    WHERE run_id = $1`,
  others: `SELECT count(*) FILTER (WHERE started_at >= $2)::int AS started,
      count(*) FILTER (WHERE finished_at >= $2)::int AS ended,
      count(*) FILTER (WHERE finished_at >= $2 AND failure_reason = 'sandbox_error')::int AS "sandboxErrors"
    FROM runs WHERE run_id > $1 AND run_id <> $3 
      AND (failure_reason IS NULL OR failure_reason NOT IN ('runtime_lost', 'runtime_stopped'))`,
  unfinished: `SELECT FROM runs WHERE run_id = $1 AND finished_at IS NULL`,
  script: `SELECT FROM scripts WHERE script_id = $1 AND NOT deleted`,
  newestGroup: `SELECT group_id FROM groups ORDER BY group_id DESC LIMIT 1`,
};

export interface SelfCheckRun {
  readonly status: 'queued' | 'running' | 'success' | 'failed' | 'stopped';
  readonly failure_reason: string | null;
  /** JSON text. Null until the run returns an output. */
  readonly output: string | null;
  readonly queued_at: Date;
}

/** Returns the run of the self-check, or `undefined` while the read model does not contain it. */
export async function findSelfCheckRun(
  db: Queryable,
  runId: string,
): Promise<SelfCheckRun | undefined> {
  return (await db.query<SelfCheckRun>(statements.run, [runId])).rows[0];
}

export interface OtherRunCounts {
  readonly started: number;
  readonly ended: number;
  readonly sandboxErrors: number;
}

/** Counts the runs that started or finished after `since`, except `runId` and runs whose runtime was lost.
 *  @param updateId distinguishes runs by age: smaller run IDs are older than the update */
export async function countOtherRuns(
  db: Queryable,
  { updateId, runId, since }: { updateId: string; runId: string; since: Date },
): Promise<OtherRunCounts> {
  const { rows } = await db.query<OtherRunCounts>(statements.others, [updateId, since, runId]);
  return rows[0] ?? { started: 0, ended: 0, sandboxErrors: 0 };
}

export async function isUnfinishedRun(db: Queryable, runId: string): Promise<boolean> {
  return (await db.query(statements.unfinished, [runId])).rows.length > 0;
}

/** Whether the script exists and is not deleted. */
export async function scriptExists(db: Queryable, scriptId: string): Promise<boolean> {
  return (await db.query(statements.script, [scriptId])).rows.length > 0;
}

export async function newestGroupId(db: Queryable): Promise<string | undefined> {
  return (await db.query<{ group_id: string }>(statements.newestGroup)).rows[0]?.group_id;
}
