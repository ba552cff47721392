/** Queries for waiting runs, which the concurrency limit or another condition holds back. Runs with a pending
 *  approval are excluded. */
import type { RunId, ScriptId } from '#domain/kernel/ids.ts';
import { heldTriggers } from '#domain/run/run.ts';
import { activeInPool } from '../pools/queries.ts';
import { statement } from '../statement.ts';
import { correlationIdOf } from './correlation.ts';

/** An SQL condition that a run in `run_queue q` needs nothing but a free slot. Its trigger must not be paused. If
 *  the run must follow earlier runs of its schedule, none of them may be active. The IDs of a schedule's runs sort
 *  by due time. The condition looks up the run in a subquery, because a join would read all waiting runs, although
 *  only a few are needed. */
const mayHaveSlot = `(
  SELECT NOT (r.trigger_type = ANY ('{${heldTriggers.join(',')}}')
      AND EXISTS (SELECT FROM trigger_state WHERE paused))
    AND NOT (r.trigger ->> 'afterPrevious' IS NOT NULL AND EXISTS (
      SELECT FROM run_queue e JOIN runs p ON p.run_id = e.run_id
      WHERE e.script_id = q.script_id AND e.run_id < q.run_id AND NOT e.approval_pending
        AND p.trigger ->> 'scheduleId' = r.trigger ->> 'scheduleId'))
  FROM runs r WHERE r.run_id = q.run_id)`;

/** Returns an SQL subquery for the first waiting runs of a script that need nothing but a free slot, in queue order.
 *  Delayed runs are included after their start time. The clock does not affect other runs. The two kinds are read
 *  separately, because a single query would read every delayed run. */
export function firstWaiting(scriptId: string, limit: string): string {
  const those = (condition: string) => `(SELECT q.run_id, q.queue_position FROM run_queue q
      WHERE q.script_id = ${scriptId} AND q.waiting AND NOT q.approval_pending AND ${condition} AND ${mayHaveSlot}
      ORDER BY q.not_before NULLS FIRST, q.queue_position LIMIT ${limit})`;
  return `(SELECT run_id, queue_position FROM (
      ${those('q.not_before IS NULL')} UNION ALL ${those('q.not_before <= now()')}) either
    ORDER BY queue_position LIMIT ${limit})`;
}

export interface WaitingRun {
  readonly run_id: RunId;
  readonly script_id: ScriptId;
  readonly pools: readonly string[];
  readonly correlation_id: string;
}

export const releasedAtOnce = 200;

/** Returns waiting runs for which their script and pools have a free slot, in release order. Returns at most
 *  `releasedAtOnce` runs. */
// Steps from script to script through an index, so that only a few of many waiting runs are read. Without parameters,
// Postgres plans the statement only once per connection, which takes several milliseconds.
export const releasableRuns = statement<WaitingRun>(`
  WITH RECURSIVE script_ids AS (
    (SELECT script_id FROM run_queue WHERE waiting AND NOT approval_pending ORDER BY script_id LIMIT 1)
    UNION ALL
    SELECT (SELECT script_id FROM run_queue q WHERE waiting AND NOT approval_pending AND q.script_id > script_ids.script_id
      ORDER BY script_id LIMIT 1)
    FROM script_ids WHERE script_id IS NOT NULL
  )
  , pool_slots AS MATERIALIZED (
    SELECT p.name, p.max_runs - ${activeInPool} AS free FROM pools p
  ), next_runs AS (
  SELECT next.run_id, s.script_id, own.pools, next.queue_position
  FROM script_ids JOIN scripts s ON s.script_id = script_ids.script_id AND s.enabled AND NOT s.deleted
  CROSS JOIN LATERAL (
    SELECT greatest(s.max_concurrent_runs - count(*), 0) AS free FROM run_queue a
    WHERE a.script_id = s.script_id AND NOT a.waiting) slots
  CROSS JOIN LATERAL ${firstWaiting('s.script_id', 'slots.free')} next
  JOIN run_queue own ON own.run_id = next.run_id
  ), open_runs AS (
    SELECT * FROM next_runs WHERE pools = '[]'
      OR NOT EXISTS (SELECT FROM pool_slots WHERE free <= 0 AND pools ? name)
  ), ahead AS (
    -- The rank of each run among the runs that need a slot of the same pool.
    SELECT run_id, free, row_number() OVER (PARTITION BY name ORDER BY queue_position) AS place
    FROM open_runs JOIN pool_slots ON pools ? name WHERE pools <> '[]'
  )
  SELECT run_id, script_id, pools, ${correlationIdOf('open_runs.run_id')} AS correlation_id FROM open_runs
  WHERE NOT EXISTS (SELECT FROM ahead WHERE ahead.run_id = open_runs.run_id AND place > free)
  ORDER BY queue_position LIMIT ${releasedAtOnce}`);
