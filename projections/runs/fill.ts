import type { Position } from '#domain/kernel/event.ts';
import { sql } from 'kysely';
import { actorNameSql } from '../actors.ts';
import { between, type Fill, type ReadModels } from '../projection.ts';

/** Inserts rows for the runs that were queued in a range of events, as of the end of the range. This is the SQL
 *  equivalent of `step`. */
export const runsFill: Fill = { covers: 'streams that begin', run: fillRuns };

async function fillRuns(db: ReadModels, from: Position, to: Position): Promise<void> {
  await sql`
    WITH chunk AS NOT MATERIALIZED (
      SELECT stream_id, version, type, data, metadata, recorded_at, data -> 'totals' AS totals
      FROM events
      WHERE ${between(from, to)} AND type IN
        ('RunQueued', 'RunReleased', 'RunStarted', 'RunStopRequested', 'RunFinished')
    ), ended AS (
      SELECT *, data ->> 'outcome' AS outcome, CASE WHEN data ->> 'outcome' IN ('success', 'stopped')
        THEN data ->> 'outcome' ELSE 'failed' END AS status
      FROM chunk WHERE type = 'RunFinished'
    )
    INSERT INTO runs (run_id, stream_version, script_id, script_name, group_id, script_version,
      status, ended_as, waiting, available_at, stop_requested, trigger_type, trigger, requested_by,
      entrypoint, limits, environment, python, start_mode, listen_ports, resolution, params_sha256,
      attempt, parent_run_id, queued_at, started_at, finished_at, exit_code, signal, failure_reason,
      runtime_id, fence, layers, duration_ms, cpu_seconds, max_memory_bytes, max_threads, log_lines,
      log_bytes, log_truncated, error_fingerprint, commit)
    SELECT (q.data ->> 'runId')::uuid,
      greatest(q.version, released.version, started.version, stopping.version, ended.version),
      (q.data ->> 'scriptId')::uuid, q.data ->> 'scriptName', (q.data ->> 'groupId')::uuid,
      (q.data ->> 'scriptVersion')::integer,
      coalesce(ended.status, CASE WHEN started.version IS NULL THEN 'queued' ELSE 'running' END),
      ended.status,
      q.data ? 'waiting' AND released.version IS NULL AND ended.version IS NULL,
      coalesce((q.data ->> 'notBefore')::timestamptz, q.recorded_at), stopping.version IS NOT NULL,
      q.data -> 'trigger' ->> 'type', q.data -> 'trigger', ${actorNameSql('q')},
      q.data ->> 'entrypoint', q.data -> 'limits', coalesce(q.data -> 'environment', '{}'),
      q.data ->> 'python', coalesce(q.data ->> 'startMode', 'warm'),
      coalesce(q.data -> 'listenPorts', '[]'), q.data ->> 'resolution',
      q.data ->> 'paramsSha256', (q.data ->> 'attempt')::integer, (q.data ->> 'parentRunId')::uuid,
      q.recorded_at, started.recorded_at, ended.recorded_at, (ended.data ->> 'exitCode')::integer,
      ended.data ->> 'signal', CASE ended.status WHEN 'failed' THEN ended.outcome END,
      started.data ->> 'runtimeId', started.version, started.data -> 'layers',
      (ended.totals ->> 'durationMs')::bigint, (ended.totals ->> 'cpuSeconds')::double precision,
      (ended.totals ->> 'maxMemoryBytes')::bigint, (ended.totals ->> 'maxThreads')::integer,
      coalesce((ended.totals ->> 'logLines')::bigint, 0),
      coalesce((ended.totals ->> 'logBytes')::bigint, 0),
      coalesce((ended.totals ->> 'logTruncated')::boolean, false),
      ended.data -> 'error' ->> 'fingerprint', q.data -> 'commit'
    FROM chunk q
      LEFT JOIN chunk released ON released.stream_id = q.stream_id AND released.type = 'RunReleased'
      LEFT JOIN chunk started ON started.stream_id = q.stream_id AND started.type = 'RunStarted'
      LEFT JOIN chunk stopping
        ON stopping.stream_id = q.stream_id AND stopping.type = 'RunStopRequested'
      LEFT JOIN ended ON ended.stream_id = q.stream_id
    WHERE q.type = 'RunQueued'`.execute(db);
}
