/** Runs that wait for a slot of their script. */
import type { RunId, ScriptId } from '#domain/kernel/ids.ts';
import { heldTriggers } from '#domain/run/run.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

/** The condition, in SQL, that nothing but a slot is missing for a run in `run_queue q`: its trigger is not held, and no
 *  earlier run of its schedule is there where it is to follow that. Runs of a schedule have ids in the order of their due
 *  times.
 *
 *  The run is looked up by itself: a join would be made with all waiting runs, where few are wanted. */
const mayHaveSlot = `(
  SELECT NOT (r.trigger_type = ANY ('{${heldTriggers.join(',')}}')
      AND EXISTS (SELECT FROM trigger_state WHERE paused))
    AND NOT (r.trigger ->> 'afterPrevious' IS NOT NULL AND EXISTS (
      SELECT FROM run_queue e JOIN runs p ON p.run_id = e.run_id
      WHERE e.script_id = q.script_id AND e.run_id < q.run_id
        AND p.trigger ->> 'scheduleId' = r.trigger ->> 'scheduleId'))
  FROM runs r WHERE r.run_id = q.run_id)`;

/** The first runs of a script that wait for a slot and may have one, as a subquery in SQL: in the order of the queue, the
 *  delayed ones once their time has come. No clock decides about the others.
 *
 *  The two kinds are read apart: runs whose time is to come would be passed one by one otherwise. */
export function firstWaiting(scriptId: string, limit: string): string {
  const those = (condition: string) => `(SELECT q.run_id, q.queue_position FROM run_queue q
      WHERE q.script_id = ${scriptId} AND q.waiting AND ${condition} AND ${mayHaveSlot}
      ORDER BY q.not_before NULLS FIRST, q.queue_position LIMIT ${limit})`;
  return `(SELECT run_id, queue_position FROM (
      ${those('q.not_before IS NULL')} UNION ALL ${those('q.not_before <= now()')}) either
    ORDER BY queue_position LIMIT ${limit})`;
}

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
  CROSS JOIN LATERAL ${firstWaiting('s.script_id', 'slots.free')} next
  ORDER BY next.queue_position LIMIT $1`);

/** Those that a slot of their script is free for, in the order in which they are to have it; at most
 *  `limit`. */
export async function releasableRuns(
  db: ReadModels,
  limit: number,
): Promise<readonly WaitingRun[]> {
  return await next(db, limit);
}
