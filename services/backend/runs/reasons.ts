/** Why each event of a run happened, in one sentence. */
import type { Recorded } from '#domain/aggregates.ts';
import type { RunEvent } from '#domain/run/events.ts';
import { actorName } from '#projections/actors.ts';
import type { Trigger } from '#domain/run/run.ts';

/** One sentence for a person. */
export function reasonOf(event: Recorded<RunEvent>): string {
  const actor = actorName(event.metadata.actor);
  switch (event.type) {
    case 'RunQueued':
      return `${queuedBy(event, actor)}${waitOf(event)}`;
    case 'RunReleased':
      return 'Its time had come and the script had a slot.';
    case 'RunStarted':
      return `The runtime ${event.data.runtimeId} had it ready.`;
    case 'RunStopRequested':
      return `${actor} asked it to stop.`;
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
      return `${actor} ran ${trigger.runId} again, at version ${scriptVersion}.`;
    case 'schedule':
      return `Schedule ${trigger.scheduleId} was due at ${trigger.dueAt} (${trigger.outcome}).`;
    case 'event':
      return causedBy(trigger, scriptVersion);
    case 'manual':
    case 'api':
    case 'webhook':
    case 'mcp':
    case 'queue':
      return `${actor} asked for it (trigger ${trigger.type}), at version ${scriptVersion}.`;
  }
}

function causedBy(trigger: Extract<Trigger, { type: 'event' }>, scriptVersion: number): string {
  switch (trigger.cause) {
    case 'keep_alive':
      return 'The script is to be kept alive and had no run.';
    case 'script':
      return `Run ${trigger.runId} asked for it, at version ${scriptVersion}.`;
    case 'chain':
      return `Run ${trigger.runId} had ended, and chain ${trigger.chainId} leads here (depth ${trigger.depth}).`;
  }
}

function waitOf({ data: { waiting, notBefore, trigger } }: Queued): string {
  if (notBefore !== undefined) return ` It waits until ${notBefore} and for a slot.`;
  if (!waiting) return '';
  return trigger.type === 'schedule' && trigger.afterPrevious
    ? ' It waits for the run before of the schedule, or for a slot.'
    : ' It waits: the script had no free slot, or others waited already.';
}

function endedBy(
  { data }: Extract<Recorded<RunEvent>, { type: 'RunFinished' }>,
  actor: string,
): string {
  if (data.outcome === 'success') return 'The script ended by itself, with exit code 0.';
  if (data.outcome === 'stopped') return `It was stopped; ${actor} reported it.`;
  if (data.outcome !== 'exit_code') return `It failed: ${data.outcome}; ${actor} reported it.`;
  return data.signal === null
    ? `The script ended by itself, with exit code ${data.exitCode}.`
    : `The script was ended by ${data.signal}.`;
}
