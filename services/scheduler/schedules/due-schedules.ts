/** Processes due times: each results in a run or in a recorded reason for its absence, exactly once, also with several
 *  schedulers and after crashes. A run's id is derived from the schedule and the due time; whether a due time is
 *  settled is decided under the lock of its schedule. */
import type { Command } from '#domain/aggregates.ts';
import {
  inOrderOfTime,
  mustParse,
  parseCommandId,
  parseRunId,
  parseScheduleId,
  parseScriptId,
} from '#domain/kernel/ids.ts';
import type { Commands, Outcome } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { PassedOccurrence } from '#domain/schedule/events.ts';
import type { FiredOutcome } from '#domain/schedule/schedule.ts';
import { dueTimesUntil } from '#domain/schedule/settling.ts';
import type { ReadModels } from '#projections/projection.ts';
import { activeRunsOf, dueSchedules, type DueSchedule } from '#projections/schedules/due.ts';

const schedulesAtOnce = 256;
/** Of one schedule, in one round. */
const dueTimesAtOnce = 500;

export interface DueSchedulesParts {
  readonly reads: ReadModels;
  readonly commands: Commands;
  readonly ids: Ids;
}

/** One round, which serves what is due at `now`. @returns whether there may be more */
export async function serveDueSchedules(parts: DueSchedulesParts, now: Date): Promise<boolean> {
  const due = await dueSchedules(parts.reads, now, schedulesAtOnce);
  const served = await Promise.all(due.map((schedule) => serve(parts, schedule, now)));
  return due.length === schedulesAtOnce || served.some((count) => count === dueTimesAtOnce);
}

/** Oldest first: what is noted of a later due time says that those before it have ended.
 *  @returns how many due times were looked at */
async function serve(parts: DueSchedulesParts, schedule: DueSchedule, now: Date): Promise<number> {
  const { definition, created_at, next_fire_at } = schedule;
  let passed: PassedOccurrence[] = [];
  let count = 0;
  for (const { dueAt, verdict } of dueTimesUntil(
    definition,
    created_at,
    next_fire_at,
    now,
    dueTimesAtOnce,
  )) {
    count += 1;
    if (verdict.kind === 'miss') {
      passed.push({ dueAt: dueAt.toISOString(), outcome: 'missed', reason: verdict.reason });
      continue;
    }
    await pass(parts, schedule, passed);
    passed = [];
    const refused = await fire(parts, schedule, dueAt, verdict.outcome);
    if (refused !== undefined) {
      passed.push({ dueAt: dueAt.toISOString(), outcome: 'skipped', reason: refused });
    }
  }
  await pass(parts, schedule, passed);
  return count;
}

/** @returns why there is no run, as a code; `undefined` where there is one or the due time has ended */
async function fire(
  parts: DueSchedulesParts,
  { schedule_id, script_id, definition }: DueSchedule,
  due: Date,
  outcome: FiredOutcome,
): Promise<string | undefined> {
  const dueAt = due.toISOString();
  const { overlap, paramsSha256 } = definition;
  if (overlap === 'cancel_previous') await stopPrevious(parts, schedule_id, script_id, dueAt);
  const runId = inOrderOfTime(parts.ids.derived(schedule_id, dueAt), due);
  const answer = await execute(parts, runId, {
    type: 'RunScript',
    runId: mustParse(parseRunId, runId),
    scriptId: mustParse(parseScriptId, script_id),
    trigger: {
      type: 'schedule',
      scheduleId: mustParse(parseScheduleId, schedule_id),
      dueAt,
      outcome,
      ...(overlap !== 'skip' && { afterPrevious: true }),
    },
    paramsSha256,
    timeoutSeconds: null,
    ...(overlap === 'skip' ? { unlessOverlapping: true } : { whenBusy: 'queue' }),
  });
  if (answer.kind !== 'refused' || answer.refusal.code === 'already_exists') return undefined;
  return answer.refusal.code;
}

async function stopPrevious(
  parts: DueSchedulesParts,
  scheduleId: string,
  scriptId: string,
  dueAt: string,
): Promise<void> {
  for (const runId of await activeRunsOf(parts.reads, scheduleId, scriptId, dueAt)) {
    await execute(parts, runId, { type: 'StopRun', runId: mustParse(parseRunId, runId) });
  }
}

async function pass(
  parts: DueSchedulesParts,
  { schedule_id, script_id }: DueSchedule,
  occurrences: readonly PassedOccurrence[],
): Promise<void> {
  if (occurrences.length === 0) return;
  await execute(parts, schedule_id, {
    type: 'PassOccurrences',
    scheduleId: mustParse(parseScheduleId, schedule_id),
    scriptId: mustParse(parseScriptId, script_id),
    occurrences,
  });
}

/** @param cause the run or schedule that it is about */
function execute(
  { commands, ids }: DueSchedulesParts,
  cause: string,
  command: Command,
): Promise<Outcome> {
  return commands.execute(command, {
    commandId: mustParse(parseCommandId, ids.next()),
    actor: { kind: 'system', name: 'scheduler' },
    ip: null,
    correlationId: cause,
    causationId: null,
  });
}
