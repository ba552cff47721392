/** Formats runs and their samples for API responses (contract §3). */
import { createHash } from 'node:crypto';
import type { SamplePoint } from '#domain/ports/run-samples.ts';
import { platformError } from '#domain/run/error/error.ts';
import type { Trigger } from '#domain/run/run.ts';
import type { RemovableKind } from '#domain/system/retention.ts';
import {
  readReports,
  type ReportedProgress,
  type RunReport,
} from '#infra/postgres/logs/run-reports.ts';
import type { WaitingFor } from '#infra/postgres/queue/waiting-for.ts';
import { readRemoved } from '#infra/postgres/operations/removed-parts.ts';
import type { ListedRun } from '#projections/runs/pages.ts';
import { readParams } from '#infra/postgres/operations/params.ts';
import type { Services } from '../services.ts';

/** @param report the progress and output that the run reported
 *  @param params the parameters, if they are stored
 *  @param removed names of the run's removed data */
export function runJson(
  run: ListedRun,
  params: unknown,
  removed: readonly RemovableKind[],
  report: RunReport | undefined,
  waitingFor: WaitingFor | undefined,
) {
  return {
    run_id: run.run_id,
    id: run.run_id,
    script_id: run.script_id,
    script_name: run.script_name,
    script_version: run.script_version,
    status: run.status,
    waiting: run.waiting,
    waiting_for: waitingFor ?? null,
    stop_requested: run.stop_requested,
    trigger_type: run.trigger_type,
    trigger: triggerJson(run.trigger),
    requested_by: run.requested_by,
    queued_at: run.queued_at,
    started_at: run.started_at,
    finished_at: run.finished_at,
    queue_ms: queueMs(run),
    duration_ms: run.duration_ms,
    exit_code: run.exit_code,
    signal: run.signal,
    failure_reason: run.failure_reason,
    attempt: run.attempt,
    parent_run_id: run.parent_run_id,
    params: params ?? null,
    runtime_id: run.runtime_id,
    usage: usageOf(run),
    log_lines: run.log_lines,
    log_bytes: run.log_bytes,
    log_truncated: run.log_truncated,
    removed,
    output: JSON.parse(report?.output ?? 'null') as unknown,
    progress: progressJson(run, report?.progress),
    error: errorOf(run, report),
    error_group_id: errorGroupOf(run),
    commit: run.commit?.hash ?? null,
    commit_url: run.commit?.url ?? null,
  };
}

/** The minimum progress for an estimate of the end. Below it, an estimate would be too inaccurate. */
const minFraction = 0.01;

type RunTimes = Pick<ListedRun, 'started_at' | 'finished_at'>;

/** The progress of a run, with an estimate of its end. */
export function progressJson(run: RunTimes, progress: ReportedProgress | null | undefined) {
  if (!progress) return null;
  const { fraction, text } = progress;
  return { fraction, text, eta: etaOf(run, progress) };
}

/** Estimates the end from the average speed up to the last report.
 *  @returns null if the run has ended, or if its progress is below 1 % or is 100 % */
function etaOf(run: RunTimes, { fraction, reportedAt }: ReportedProgress): Date | null {
  const { started_at: startedAt, finished_at: finishedAt } = run;
  if (startedAt === null || reportedAt === null || finishedAt !== null) return null;
  if (fraction < minFraction || fraction >= 1) return null;
  const elapsedMs = Math.max(0, reportedAt.getTime() - startedAt.getTime());
  return new Date(reportedAt.getTime() + Math.round((elapsedMs * (1 - fraction)) / fraction));
}

/** The run's error. A stored error is used only if it belongs to the recorded failure. In earlier versions, a
 *  runtime could store a different error before the run was found lost or expired. */
function errorOf({ failure_reason: reason }: ListedRun, report: RunReport | undefined) {
  if (reason === null) return null;
  const error = report?.error;
  const cause = error?.source === 'platform' ? error.type : 'exit_code';
  return error && cause === reason ? error : platformError(reason);
}

/** Must equal `md5(group_id::text || error_fingerprint)::uuid` in projections/error-groups. */
function errorGroupOf({ group_id, error_fingerprint }: ListedRun): string | null {
  if (error_fingerprint === null) return null;
  const hex = createHash('md5').update(`${group_id}${error_fingerprint}`).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function triggerJson(trigger: Trigger) {
  switch (trigger.type) {
    case 'manual':
    case 'mcp':
    case 'queue':
      return { type: trigger.type };
    case 'api':
      return { type: trigger.type, token_id: trigger.tokenId };
    case 'schedule': {
      const { type, scheduleId, dueAt, outcome } = trigger;
      return { type, schedule_id: scheduleId, due_at: dueAt, outcome };
    }
    case 'webhook': {
      const { type, webhookId, payloadSha256, redeliveryOf } = trigger;
      const repeated = redeliveryOf === undefined ? {} : { redelivery_of: redeliveryOf };
      return { type, webhook_id: webhookId, payload_sha256: payloadSha256, ...repeated };
    }
    case 'event':
      return eventTriggerJson(trigger);
    case 'retry':
    case 'rerun': {
      const { type, runId, payloadSha256 } = trigger;
      return { type, run_id: runId, ...(payloadSha256 && { payload_sha256: payloadSha256 }) };
    }
  }
}

function eventTriggerJson(trigger: Extract<Trigger, { type: 'event' }>) {
  const { type, cause } = trigger;
  switch (trigger.cause) {
    case 'keep_alive':
      return { type, cause };
    case 'script':
      return { type, cause, run_id: trigger.runId };
    case 'chain': {
      const { chainId, runId, depth, payloadSha256 } = trigger;
      const chain = { chain_id: chainId, source_run_id: runId, depth };
      return { type, cause, ...chain, payload_sha256: payloadSha256 };
    }
  }
}

/** The run's queue wait: until its start, or until its end if it never started. */
function queueMs({ queued_at: queued, started_at: started, finished_at: finished }: ListedRun) {
  const until = started ?? finished;
  return until === null ? null : Math.max(0, until.getTime() - queued.getTime());
}

function usageOf(run: ListedRun) {
  const { cpu_seconds, max_memory_bytes, max_threads } = run;
  const isMeasured = cpu_seconds !== null || max_memory_bytes !== null || max_threads !== null;
  return isMeasured ? { cpu_seconds, max_memory_bytes, max_threads } : null;
}

/** Formats runs for API responses. */
export async function runsJson(rows: readonly ListedRun[], { database, findWaitingFor }: Services) {
  const [params, removed, reports, waitingFor] = await Promise.all([
    readParams(
      database,
      rows.map((row) => row.params_sha256),
    ),
    readRemoved(database, rows),
    readReports(
      database,
      // Queued runs have no reports.
      rows.flatMap((row) => ((row.started_at ?? row.finished_at) ? [row.run_id] : [])),
    ),
    Promise.all(
      rows.map(async ({ run_id: id, status }) =>
        status === 'queued' ? await findWaitingFor(id) : undefined,
      ),
    ),
  ]);
  return rows.map((row, index) => {
    const { params_sha256: sha256 } = row;
    const isGone = sha256 !== null && !params.has(sha256);
    const gone = [...removed(row), ...(isGone ? (['payloads'] as const) : [])];
    return runJson(row, params.get(sha256), gone, reports.get(row.run_id), waitingFor[index]);
  });
}

export function sampleJson(point: SamplePoint) {
  return {
    time: new Date(point.timeMs),
    cpu_seconds: point.cpuSeconds,
    memory_bytes: point.memoryBytes,
    threads: point.threads,
    processes: point.processes,
  };
}
