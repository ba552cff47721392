import type { FailureReason, Run, RunStatus, TriggerType } from '#lib/api/types.ts';

const statusLabels: Record<RunStatus, string> = {
  queued: 'Queued',
  running: 'Running',
  success: 'Success',
  failed: 'Failed',
  stopped: 'Stopped',
};

const triggerLabels: Record<TriggerType, string> = {
  manual: 'Manual',
  api: 'API',
  schedule: 'Schedule',
  webhook: 'Webhook',
  event: 'Event',
  retry: 'Retry',
  rerun: 'Rerun',
  mcp: 'MCP',
  queue: 'Queue',
};

const failureLabels: Record<FailureReason, string> = {
  exit_code: 'The script failed',
  timeout: 'The run exceeded its time limit',
  cpu_limit: 'The run exceeded its CPU time limit',
  memory_limit: 'The run exceeded its memory limit',
  environment_error: 'The Python environment could not be built. See the log for details',
  sandbox_error: 'The sandbox could not be set up',
  runtime_lost: 'The runtime was lost during the run',
  runtime_stopped: 'The runtime was shut down during the run',
  expired: 'The run waited in the queue longer than its limit',
};

export const runStatuses = Object.keys(statusLabels) as RunStatus[];
export const triggerTypes = Object.keys(triggerLabels) as TriggerType[];

export function statusLabel(status: RunStatus): string {
  return statusLabels[status];
}

export function triggerLabel(trigger: TriggerType): string {
  // A newer server may send unknown trigger types.
  return triggerLabels[trigger] ?? trigger;
}

/** Describes what started a run. For a chain, the trigger type is `event`, but the chain has its own label. */
export function triggerOf(run: Pick<Run, 'trigger_type' | 'trigger'>): string {
  return run.trigger.chain_id ? 'Chain' : triggerLabel(run.trigger_type);
}

/** Returns the label of a failure reason, or null if the run did not fail. */
function failureLabel(run: Pick<Run, 'failure_reason' | 'exit_code' | 'signal'>): string | null {
  if (!run.failure_reason) return null;
  const words = failureLabels[run.failure_reason];
  if (run.failure_reason !== 'exit_code') return `${words}.`;
  return run.signal
    ? `The script was terminated by ${run.signal}.`
    : `${words} (exit code ${run.exit_code}).`;
}

/** Describes a run's error on one line, or null if there is no error. */
export function errorHeadline(
  run: Pick<Run, 'error' | 'failure_reason' | 'exit_code' | 'signal'>,
): string | null {
  const { error } = run;
  if (!error || error.type === 'exit_code') return failureLabel(run);
  const [message = ''] = error.message.split('\n');
  // Messages from the platform, such as exceeded limits, are already sentences.
  if (error.source === 'platform') return message;
  return message === '' ? error.type : `${error.type}: ${message}`;
}

/** Describes on one line what a queued run waits for, or null if the run waits for nothing or has started. */
export function waitingLabel(run: Pick<Run, 'waiting_for'>): string | null {
  if (!run.waiting_for) return null;
  const { kind, name } = run.waiting_for;
  switch (kind) {
    case 'approval':
      return 'Waiting for approval';
    case 'label':
      return `Waiting for a runtime with the label ${name}`;
    case 'pool':
      return `Waiting for a free slot in the pool ${name}`;
    case 'slot':
      return name === 'runtime'
        ? 'Waiting for a free runtime'
        : `Waiting for a free slot for ${name}`;
  }
}

export function isActive(status: RunStatus): boolean {
  return status === 'queued' || status === 'running';
}

/** Returns the run's duration so far, or null before the run has started. */
export function elapsedMs(run: Run, nowMs: number): number | null {
  if (run.duration_ms !== null && !isActive(run.status)) return run.duration_ms;
  if (!run.started_at) return null;
  const endMs = run.finished_at ? Date.parse(run.finished_at) : nowMs;
  return Math.max(0, endMs - Date.parse(run.started_at));
}
