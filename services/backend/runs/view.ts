/** Rows as they are shown: contract §3. */
import type { Trigger } from '#domain/run/run.ts';
import { defaultLimits } from '#domain/script/settings.ts';
import type { RemovableKind } from '#domain/system/retention.ts';
import type { RunReport } from '#infra/postgres/logs/run-reports.ts';
import type { AuditTable } from '#projections/audit/table.ts';
import type { GroupsTable } from '#projections/groups/table.ts';
import type { ListedRun } from '#projections/runs/lists.ts';
import type { ScriptFileView } from '#projections/scripts/files.ts';
import type { ScriptView } from '#projections/scripts/queries.ts';
import type { UserView } from '#projections/users/queries.ts';
import type { SessionId } from '#domain/kernel/ids.ts';
import type { SignedInSession } from '#projections/sessions/queries.ts';

export function scriptJson(script: ScriptView) {
  return {
    id: script.script_id,
    name: script.name,
    description: script.description,
    group_id: script.group_id,
    group: script.group,
    enabled: script.enabled,
    max_concurrent_runs: script.max_concurrent_runs,
    storage_quota_bytes: script.storage_quota_bytes,
    storage_used_bytes: script.storage_used_bytes,
    entrypoint: script.entrypoint,
    // Scripts that were made before a limit existed have its default.
    limits: { ...defaultLimits, ...script.limits },
    tags: script.tags,
    retry: script.retry,
    keep_alive: script.keep_alive,
    environment: script.environment,
    python: script.python,
    start_mode: script.start_mode,
    listen_ports: script.listen_ports,
    parameters_schema: script.parameters_schema,
    version: script.version,
    created_at: script.created_at,
    created_by: script.created_by,
    updated_at: script.updated_at,
    updated_by: script.updated_by,
    last_run: script.last_run,
  };
}

export function fileJson(file: ScriptFileView) {
  return {
    path: file.path,
    size_bytes: file.size_bytes,
    sha256: file.sha256,
    updated_at: file.saved_at,
  };
}

/** @param report what the run said of itself
 *  @param params what the run was given, where it was given anything and that is kept still
 *  @param removed what is no longer kept of it */
export function runJson(
  run: ListedRun,
  params: unknown,
  removed: readonly RemovableKind[],
  report: RunReport | undefined,
) {
  return {
    run_id: run.run_id,
    id: run.run_id,
    script_id: run.script_id,
    script_name: run.script_name,
    script_version: run.script_version,
    status: run.status,
    waiting: run.waiting,
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
    progress: report?.progress ?? null,
  };
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

/** Waiting time, until the start or until the end of a run that never started. */
function queueMs({ queued_at: queued, started_at: started, finished_at: finished }: ListedRun) {
  const until = started ?? finished;
  return until === null ? null : Math.max(0, until.getTime() - queued.getTime());
}

function usageOf(run: ListedRun) {
  const { cpu_seconds, max_memory_bytes, max_threads } = run;
  const isMeasured = cpu_seconds !== null || max_memory_bytes !== null || max_threads !== null;
  return isMeasured ? { cpu_seconds, max_memory_bytes, max_threads } : null;
}

export function groupJson(group: GroupsTable) {
  return { id: group.group_id, name: group.name, color: group.color, icon: group.icon };
}

/** @param asking the session that asks, which is marked */
export function sessionJson({ session_id: id, ...rest }: SignedInSession, asking?: SessionId) {
  return { id, current: id === asking, ...rest };
}

export function userJson(user: UserView) {
  return {
    id: user.user_id,
    email: user.email,
    name: user.name,
    role: user.role,
    group_ids: user.group_ids,
    can_audit: user.can_audit,
    disabled: user.disabled,
    created_at: user.created_at,
    last_login_at: user.last_login_at,
  };
}

export function auditJson(entry: AuditTable) {
  return {
    audit_seq: entry.audit_seq,
    time: entry.time,
    actor: entry.actor,
    action: entry.action,
    resource: entry.resource,
    outcome: entry.outcome,
    detail: entry.detail,
    ip: entry.ip,
    correlation_id: entry.correlation_id,
    causation_id: entry.causation_id,
    event_id: entry.event_id,
    event_position: entry.event_position,
    event_hash: entry.event_hash,
    prev_hash: entry.prev_hash,
    hash: entry.hash,
  };
}
