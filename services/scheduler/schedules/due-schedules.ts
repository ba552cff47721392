/** Processes due times. Each due time results in exactly one run or in a recorded reason why no run started. This holds
 *  even with several schedulers and after crashes, because the run ID is derived from the schedule and the due time.
 *  Due times are settled under the lock of their schedule. */
import type { Command } from '#domain/aggregates.ts';
import type { CalendarPeriod } from '#domain/calendar/calendar.ts';
import {
  deriveTimeOrderedId,
  mustParse,
  parseRunId,
  parseScheduleId,
  parseScriptId,
} from '#domain/kernel/ids.ts';
import { systemContext, type Commands, type Outcome } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { PassedOccurrence } from '#domain/schedule/events.ts';
import type { FiredOutcome } from '#domain/schedule/schedule.ts';
import { dueTimesUntil } from '#domain/schedule/settling.ts';
import { exceptionsOf } from '#projections/calendars/queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import { activeRunsOf, dueSchedules, type DueSchedule } from '#projections/schedules/due.ts';

const schedulesAtOnce = 256;
/** The maximum number of due times per schedule and round. */
const dueTimesPerRound = 500;

export interface DueSchedulesDeps {
  readonly reads: ReadModels;
  readonly commands: Commands;
  readonly ids: Ids;
}

/** Runs one round for the due times up to `now`. @returns whether there may be more due times */
export async function serveDueSchedules(deps: DueSchedulesDeps, now: Date): Promise<boolean> {
  const due = await dueSchedules(deps.reads, now, schedulesAtOnce);
  const exceptions = await exceptionsOf(deps.reads, due);
  const served = await Promise.all(
    due.map((schedule) => serve(deps, schedule, now, exceptions(schedule))),
  );
  return due.length === schedulesAtOnce || served.some((count) => count === dueTimesPerRound);
}

/** Processes a schedule's due times, oldest first, because settling a due time also settles all earlier due times.
 *  @returns the number of processed due times */
async function serve(
  deps: DueSchedulesDeps,
  schedule: DueSchedule,
  now: Date,
  exceptions: readonly CalendarPeriod[],
): Promise<number> {
  const { definition, created_at, next_fire_at } = schedule;
  let passed: PassedOccurrence[] = [];
  let count = 0;
  for (const { dueAt, verdict } of dueTimesUntil(
    definition,
    created_at,
    next_fire_at,
    now,
    dueTimesPerRound,
    exceptions,
  )) {
    count += 1;
    if (verdict.kind === 'except') {
      passed.push({ dueAt: dueAt.toISOString(), outcome: 'skipped', reason: 'calendar_event' });
      continue;
    }
    if (verdict.kind === 'miss') {
      passed.push({ dueAt: dueAt.toISOString(), outcome: 'missed', reason: verdict.reason });
      continue;
    }
    await pass(deps, schedule, passed);
    passed = [];
    const refused = await fire(deps, schedule, dueAt, verdict.outcome);
    if (refused !== undefined) {
      passed.push({ dueAt: dueAt.toISOString(), outcome: 'skipped', reason: refused });
    }
  }
  await pass(deps, schedule, passed);
  return count;
}

/** Starts the run for a due time.
 *  @returns the reason code if no run started, or `undefined` if the run exists or the due time was already settled */
async function fire(
  deps: DueSchedulesDeps,
  { schedule_id, script_id, definition }: DueSchedule,
  due: Date,
  outcome: FiredOutcome,
): Promise<string | undefined> {
  const dueAt = due.toISOString();
  const { overlap, paramsSha256 } = definition;
  if (overlap === 'cancel_previous') await stopPrevious(deps, schedule_id, script_id, dueAt);
  const runId = deriveTimeOrderedId(deps.ids.derived(schedule_id, dueAt), due);
  const answer = await execute(deps, runId, {
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
  deps: DueSchedulesDeps,
  scheduleId: string,
  scriptId: string,
  dueAt: string,
): Promise<void> {
  for (const runId of await activeRunsOf(deps.reads, scheduleId, scriptId, dueAt)) {
    await execute(deps, runId, { type: 'StopRun', runId: mustParse(parseRunId, runId) });
  }
}

async function pass(
  deps: DueSchedulesDeps,
  { schedule_id, script_id }: DueSchedule,
  occurrences: readonly PassedOccurrence[],
): Promise<void> {
  if (occurrences.length === 0) return;
  await execute(deps, schedule_id, {
    type: 'PassOccurrences',
    scheduleId: mustParse(parseScheduleId, schedule_id),
    scriptId: mustParse(parseScriptId, script_id),
    occurrences,
  });
}

/** @param cause the ID of the run or schedule that becomes the correlation ID */
function execute(
  { commands, ids }: DueSchedulesDeps,
  cause: string,
  command: Command,
): Promise<Outcome> {
  return commands.execute(command, systemContext('scheduler', ids.next(), cause));
}
