import type { Position } from '#domain/kernel/event.ts';
import { defaultLimits } from '#domain/script/settings.ts';
import { sql } from 'kysely';
import { between, type Fill, type ReadModels } from '../projection.ts';

/** Inserts rows for the runs that were queued in a range of events and had not ended by the end of the range. */
export const runQueueFill: Fill = { covers: 'streams that begin', run: fillQueue };

async function fillQueue(db: ReadModels, from: Position, to: Position): Promise<void> {
  await sql`
    WITH chunk AS NOT MATERIALIZED (
      SELECT stream_id, version, type, data, recorded_at, transaction_id, global_position,
        coalesce((data ->> 'notBefore')::timestamptz, recorded_at) AS available_at
      FROM events
      WHERE ${between(from, to)} AND type IN
        ('RunQueued', 'RunApprovalRequested', 'RunApproved', 'RunReleased', 'RunStarted', 'RunStopRequested',
          'RunFinished')
    )
    INSERT INTO run_queue (run_id, stream_version, script_id, group_id, priority, runs_on, pools, available_at, delayed,
      attempt, waiting, approval_pending, expires_at, fence, stop_requested)
    SELECT (q.data ->> 'runId')::uuid,
      greatest(q.version, requested.version, approved.version, released.version, started.version, stopping.version),
      (q.data ->> 'scriptId')::uuid, (q.data ->> 'groupId')::uuid, 0, coalesce(q.data -> 'runsOn', '[]'), coalesce(q.data -> 'pools', '[]'),
      q.available_at,
      q.available_at > q.recorded_at, (q.data ->> 'attempt')::integer,
      q.data ? 'waiting' AND released.version IS NULL,
      requested.version IS NOT NULL AND approved.version IS NULL,
      -- Runs that were queued before this limit was introduced use its default value.
      q.available_at + make_interval(secs => CASE WHEN q.data -> 'limits' ? 'queue_seconds'
        THEN (q.data -> 'limits' ->> 'queue_seconds')::double precision
        ELSE ${defaultLimits.queue_seconds}::double precision END)
        + greatest(approved.recorded_at - q.available_at, interval '0'),
      started.version, stopping.version IS NOT NULL
    FROM chunk q
      LEFT JOIN chunk requested
        ON requested.stream_id = q.stream_id AND requested.type = 'RunApprovalRequested'
      LEFT JOIN chunk approved ON approved.stream_id = q.stream_id AND approved.type = 'RunApproved'
      LEFT JOIN chunk released ON released.stream_id = q.stream_id AND released.type = 'RunReleased'
      LEFT JOIN chunk started ON started.stream_id = q.stream_id AND started.type = 'RunStarted'
      LEFT JOIN chunk stopping
        ON stopping.stream_id = q.stream_id AND stopping.type = 'RunStopRequested'
    WHERE q.type = 'RunQueued' AND q.stream_id NOT IN
      (SELECT stream_id FROM chunk WHERE type = 'RunFinished')
    -- The order of insertion determines the positions in the queue.
    ORDER BY q.transaction_id, q.global_position`.execute(db);
}
