/** Starts backfills, which are runs for past due times that started no run. */
import { periodAt } from '#domain/calendar/calendar.ts';
import {
  mustParse,
  parseCommandId,
  parseRunId,
  parseScheduleId,
  parseScriptId,
} from '#domain/kernel/ids.ts';
import { dueAfter } from '#domain/schedule/due-times.ts';
import { localText } from '#domain/schedule/local-time.ts';
import { zoneOf } from '#domain/schedule/zone.ts';
import { exceptionsOf } from '#projections/calendars/queries.ts';
import {
  runsOfDueTimes,
  scheduleFacts,
  type ScheduleView,
} from '#projections/schedules/queries.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { approvalRequest } from '#services/shared/approval-requests.ts';
import { operation, type Operation } from '../http/operation.ts';
import { accepted } from '../http/outcome.ts';
import { badField, fieldProblem, isProblem, notFound, type Problem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import type { Services } from '../services.ts';
import { Backfill, BackfillRequest, defaultBackfillRuns } from './backfill-schema.ts';
import { visibleSchedule } from './change-schedule.ts';

/** A range may contain at most this many due times. */
const maxDueTimes = 10_000;

const backfill = operation({
  method: 'post',
  path: '/api/v1/schedules/{schedule_id}/backfill',
  operationId: 'backfillSchedule',
  summary: 'Start runs for past due times that have no run',
  description:
    'Starts at most `max_runs` runs, oldest due time first. Due times that already started a run ' +
    'are skipped, so that a repeated request ' +
    'continues where the previous one ended. The runs wait while the script is at its concurrency limit. With ' +
    '`dry_run`, no runs start.',
  tag: 'Schedules',
  access: { right: 'schedules.write' },
  creates: true,
  parameters: { schedule_id: pathParameters.scheduleId },
  body: {
    schema: BackfillRequest,
    example: { from: '2026-11-01T00:00:00Z', to: '2026-11-08T00:00:00Z', dry_run: true },
  },
  responses: { 200: { description: 'The due times and their runs.', schema: Backfill } },
  handle: async ({ principal, parameters, body, context }, services) => {
    const schedule = await visibleSchedule(principal, parameters.schedule_id, services);
    if (schedule === undefined) return notFound;
    const open = await openDueTimes(schedule, new Date(body.from), new Date(body.to), services);
    if (isProblem(open)) return open;
    const chosen = open.slice(0, body.max_runs ?? defaultBackfillRuns);
    const isDry = body.dry_run ?? false;
    const items: { due_at: Date; local: string; run_id: string | null }[] = [];
    const zone = zoneOf(schedule.definition.timezone);
    for (const due of chosen) {
      const runId = isDry ? null : await start(schedule, due, context, services);
      if (isProblem(runId)) return runId;
      const local = zone === undefined ? due.toISOString() : localText(zone, due);
      items.push({ due_at: due, local, run_id: runId });
    }
    return json(200, { items, remaining: open.length - chosen.length, dry_run: isDry });
  },
});

/** Lists the past due times from `from` (inclusive) to `to` (exclusive) that started no run, oldest first. */
async function openDueTimes(
  { schedule_id, definition, created_at }: ScheduleView,
  from: Date,
  to: Date,
  { readModels }: Services,
): Promise<readonly Date[] | Problem> {
  if (to <= from) return fieldProblem('to', 'must be after "from"');
  const facts = (await scheduleFacts(readModels, [schedule_id])).get(schedule_id);
  const settledUntil = new Date(facts?.servedUntil ?? 0);
  const exceptions = (await exceptionsOf(readModels, [{ definition }]))({ definition });
  const found: Date[] = [];
  const counted = { ...definition, enabled: true };
  let due = dueAfter(counted, created_at, new Date(from.getTime() - 1));
  while (due !== undefined && due < to && due <= settledUntil) {
    if (found.length === maxDueTimes) {
      return badField(
        'to',
        `the range has more than ${maxDueTimes} due times; use a shorter range`,
      );
    }
    if (periodAt(exceptions, definition.timezone, due) === undefined) found.push(due);
    due = dueAfter(counted, created_at, due);
  }
  const runs = await runsOfDueTimes(readModels, schedule_id, found);
  return found.filter((one) => !runs.has(one.getTime()));
}

/** Starts the run of a due time. A repeated request uses the same IDs.
 *  @returns the ID of the run; `null` if another request has already started it */
async function start(
  { schedule_id, script_id, definition }: ScheduleView,
  due: Date,
  context: CommandContext,
  { commands, ids, clock }: Services,
): Promise<string | null | Problem> {
  const dueAt = due.toISOString();
  const runId = mustParse(parseRunId, ids.next());
  const outcome = accepted(
    await commands.execute(
      {
        type: 'RunScript',
        runId,
        scriptId: mustParse(parseScriptId, script_id),
        trigger: {
          type: 'schedule',
          scheduleId: mustParse(parseScheduleId, schedule_id),
          dueAt,
          outcome: 'backfilled',
        },
        paramsSha256: definition.paramsSha256,
        timeoutSeconds: null,
        whenBusy: 'queue',
        approval: approvalRequest(context, clock),
      },
      { ...context, commandId: mustParse(parseCommandId, ids.derived(context.commandId, dueAt)) },
    ),
  );
  if (!isProblem(outcome)) return outcome.streamId.slice('run-'.length);
  return outcome.code === 'already_exists' ? null : outcome;
}

export const scheduleBackfillOperations: readonly Operation[] = [backfill];
