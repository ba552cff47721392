/** Explains each event of a run in one sentence. */
import type { Recorded } from '#domain/aggregates.ts';
import type { RunEvent } from '#domain/run/events.ts';
import { actorName } from '#projections/actors.ts';
import type { Trigger } from '#domain/run/run.ts';

/** Explains the event to the user in one sentence. */
export function reasonOf(event: Recorded<RunEvent>): string {
  const actor = actorName(event.metadata.actor);
  switch (event.type) {
    case 'RunQueued':
      return `${queuedBy(event, actor)}${waitOf(event)}`;
    case 'RunApprovalRequested':
      return `The script is protected, so a second person must approve the run by ${event.data.expiresAt}.`;
    case 'RunApproved':
      return `${actor} approved the run.`;
    case 'RunRejected':
      return `${actor} rejected the run.`;
    case 'RunApprovalExpired':
      return 'The approval request expired.';
    case 'RunApprovalWithdrawn':
      return `The run ended before the request was decided (reported by ${actor}).`;
    case 'RunReleased':
      return 'The run was due and its script had a free slot.';
    case 'RunStarted':
      return `Runtime ${event.data.runtimeId} started the run.`;
    case 'RunStopRequested':
      return `${actor} asked to stop the run.`;
    case 'RunFinished':
      return endedBy(event, actor);
  }
}

type Queued = Extract<Recorded<RunEvent>, { type: 'RunQueued' }>;

function queuedBy({ data: { trigger, attempt, scriptVersion } }: Queued, actor: string): string {
  switch (trigger.type) {
    case 'retry':
      return `Run ${trigger.runId} failed, and the retry policy allows attempt ${attempt}.`;
    case 'rerun':
      return `${actor} reran ${trigger.runId} at version ${scriptVersion}.`;
    case 'schedule':
      return `Schedule ${trigger.scheduleId} was due at ${trigger.dueAt} (${trigger.outcome}).`;
    case 'event':
      return causedBy(trigger, scriptVersion);
    case 'manual':
    case 'api':
    case 'webhook':
    case 'mcp':
    case 'queue':
      return `${actor} started the run (trigger ${trigger.type}) at version ${scriptVersion}.`;
  }
}

function causedBy(trigger: Extract<Trigger, { type: 'event' }>, scriptVersion: number): string {
  switch (trigger.cause) {
    case 'keep_alive':
      return 'The script is always on and had no active run.';
    case 'script':
      return `Run ${trigger.runId} requested this run at version ${scriptVersion}.`;
    case 'chain':
      return `Run ${trigger.runId} ended and triggered chain ${trigger.chainId} (depth ${trigger.depth}).`;
  }
}

function waitOf({ data: { waiting, notBefore, trigger } }: Queued): string {
  if (notBefore !== undefined) return ` The run waits until ${notBefore}, then for a free slot.`;
  if (!waiting) return '';
  return trigger.type === 'schedule' && trigger.afterPrevious
    ? " The run waits for the schedule's previous run or for a free slot."
    : ' The run waits because the script had no free slot or other runs were already waiting.';
}

function endedBy(
  { data }: Extract<Recorded<RunEvent>, { type: 'RunFinished' }>,
  actor: string,
): string {
  if (data.outcome === 'success') return 'The script exited with exit code 0.';
  if (data.outcome === 'stopped') return `The run was stopped (reported by ${actor}).`;
  if (data.outcome !== 'exit_code')
    return `The run failed with ${data.outcome} (reported by ${actor}).`;
  return data.signal === null
    ? `The script exited with exit code ${data.exitCode}.`
    : `The script was killed by ${data.signal}.`;
}
