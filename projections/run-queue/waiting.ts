/** Runs that wait for a slot of their script. */
import type { RunId, ScriptId } from '#domain/kernel/ids.ts';
import { heldTriggers } from '#domain/run/run.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

/** The condition, in SQL, that a run in `run_queue q` waits for a slot and could have one: its time has come, its
 *  trigger is not held, and no earlier run of its schedule is there where it is to follow that. Runs of a
 *  schedule have ids in the order of their due times.
 *
 *  The run is looked up by itself: a join would be made with all that wait, where few are wanted. */
export const mayHaveSlot = `q.waiting AND q.available_at <= now() AND (
  SELECT NOT (r.trigger_type = ANY ('{${heldTriggers.join(',')}}')
      AND EXISTS (SELECT FROM trigger_state WHERE paused))
    AND NOT (r.trigger ->> 'afterPrevious' IS NOT NULL AND EXISTS (
      SELECT FROM run_queue e JOIN runs p ON p.run_id = e.run_id
      WHERE e.script_id = q.script_id AND e.run_id < q.run_id
        AND p.trigger ->> 'scheduleId' = r.trigger ->> 'scheduleId'))
  FROM runs r WHERE r.run_id = q.run_id)`;

export interface WaitingRun {
  readonly run_id: RunId;
  readonly script_id: ScriptId;
}

// Script by script, the next of them by an index: of many that wait few are looked at.
const next = statement<WaitingRun>(`
  WITH RECURSIVE script_ids AS (
    (SELECT script_id FROM run_queue WHERE waiting ORDER BY script_id LIMIT 1)
    UNION ALL
    SELECT (SELECT script_id FROM run_queue q WHERE waiting AND q.script_id > script_ids.script_id
      ORDER BY script_id LIMIT 1)
    FROM script_ids WHERE script_id IS NOT NULL
  )
  SELECT next.run_id, s.script_id
  FROM script_ids JOIN scripts s ON s.script_id = script_ids.script_id AND s.enabled AND NOT s.deleted
  CROSS JOIN LATERAL (
    SELECT greatest(s.max_concurrent_runs - count(*), 0) AS free FROM run_queue a
    WHERE a.script_id = s.script_id AND NOT a.waiting) slots
  CROSS JOIN LATERAL (
    SELECT q.run_id, q.available_at FROM run_queue q
    WHERE q.script_id = s.script_id AND ${mayHaveSlot}
    ORDER BY q.available_at, q.run_id LIMIT slots.free) next
  ORDER BY next.available_at, next.run_id LIMIT $1`);

/** Those that a slot of their script is free for, in the order in which they are to have it; at most
 *  `limit`. */
export async function releasableRuns(
  db: ReadModels,
  limit: number,
): Promise<readonly WaitingRun[]> {
  return await next(db, limit);
}
