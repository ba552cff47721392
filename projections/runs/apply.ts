import type { Recorded } from '#domain/aggregates.ts';
import type { RunApprovalEvent, RunEvent } from '#domain/run/events.ts';
import { noTotals, statusOf } from '#domain/run/run.ts';
import { actorName } from '../actors.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { runsFill } from './fill.ts';
import { runColumns, type RunsTable } from './table.ts';

type RunRecorded = Recorded<Exclude<RunEvent, RunApprovalEvent>>;

/** Builds one row per run. */
export const runsProjection: Projection = {
  ...rowProjection<RunsTable, RunRecorded>({
    name: 'runs',
    version: 1,
    table: 'runs',
    key: 'run_id',
    columns: runColumns,
    handles: ['RunQueued', 'RunReleased', 'RunStarted', 'RunStopRequested', 'RunFinished'],
    keyOf: (event) => event.data.runId,
    step,
  }),
  fill: runsFill,
};

function step(row: RunsTable | undefined, event: RunRecorded): RunsTable | undefined {
  if (event.type === 'RunQueued') return queuedRun(event);
  if (row === undefined) return undefined;
  switch (event.type) {
    case 'RunReleased':
      return { ...row, waiting: false };
    case 'RunStarted':
      return {
        ...row,
        status: 'running',
        started_at: event.recordedAt,
        runtime_id: event.data.runtimeId,
        fence: event.version,
        layers: event.data.layers,
      };
    case 'RunStopRequested':
      return { ...row, stop_requested: true };
    case 'RunFinished':
      return finished(row, event);
  }
}

/** Returns the row of a run that was just queued. */
export function queuedRun(event: Extract<RunRecorded, { type: 'RunQueued' }>): RunsTable {
  const { data } = event;
  return {
    run_id: data.runId,
    stream_version: event.version,
    script_id: data.scriptId,
    script_name: data.scriptName,
    group_id: data.groupId,
    script_version: data.scriptVersion,
    status: 'queued',
    ended_as: null,
    waiting: data.waiting ?? false,
    available_at: availableAt(event),
    stop_requested: false,
    trigger_type: data.trigger.type,
    trigger: data.trigger,
    requested_by: actorName(event.metadata.actor),
    entrypoint: data.entrypoint,
    limits: data.limits,
    environment: data.environment ?? {},
    python: data.python ?? null,
    start_mode: data.startMode ?? 'warm',
    listen_ports: data.listenPorts ?? [],
    resolution: data.resolution ?? null,
    commit: data.commit ?? null,
    params_sha256: data.paramsSha256,
    attempt: data.attempt,
    parent_run_id: data.parentRunId,
    queued_at: event.recordedAt,
    started_at: null,
    finished_at: null,
    exit_code: null,
    signal: null,
    failure_reason: null,
    error_fingerprint: null,
    runtime_id: null,
    fence: null,
    layers: null,
    ...totalColumns(noTotals),
  };
}

/** Returns the earliest time at which the run may start. */
export function availableAt({
  data,
  recordedAt,
}: Extract<RunRecorded, { type: 'RunQueued' }>): Date {
  return data.notBefore === undefined ? recordedAt : new Date(data.notBefore);
}

function finished(row: RunsTable, event: Extract<RunRecorded, { type: 'RunFinished' }>): RunsTable {
  const { outcome, exitCode, signal, totals, error } = event.data;
  return {
    ...row,
    status: statusOf(outcome),
    ended_as: statusOf(outcome),
    waiting: false,
    finished_at: event.recordedAt,
    exit_code: exitCode,
    signal,
    failure_reason: outcome === 'success' || outcome === 'stopped' ? null : outcome,
    error_fingerprint: error?.fingerprint ?? null,
    ...totalColumns(totals),
  };
}

function totalColumns(totals: typeof noTotals) {
  return {
    duration_ms: totals.durationMs,
    cpu_seconds: totals.cpuSeconds,
    max_memory_bytes: totals.maxMemoryBytes,
    max_threads: totals.maxThreads,
    log_lines: totals.logLines,
    log_bytes: totals.logBytes,
    log_truncated: totals.logTruncated,
  };
}
