/** Previews due times, and lists a schedule's past occurrences. */
import { periodAt, type CalendarPeriod } from '#domain/calendar/calendar.ts';
import { parseScriptId } from '#domain/kernel/ids.ts';
import { overlapAt, forecastOverlap } from '#domain/schedule/overlap-forecast.ts';
import { dueAfter } from '#domain/schedule/due-times.ts';
import { clockNote, localText } from '#domain/schedule/local-time.ts';
import type { ScheduleDefinition } from '#domain/schedule/schedule.ts';
import { zoneOf } from '#domain/schedule/zone.ts';
import { exceptionsOf } from '#projections/calendars/queries.ts';
import { activeRuns } from '#projections/runs/queries.ts';
import { readDurationStats } from '#projections/runs/duration-stats.ts';
import {
  findSchedule,
  listOccurrences,
  listSchedules,
  type ScheduleView,
} from '#projections/schedules/queries.ts';
import { isIn, canSeeScript, visibleGroups } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { defaultLimit, keyOf, pageReply, onePage } from '../http/paging.ts';
import { badField, fieldProblem, isProblem, notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters } from '../http/schema.ts';
import { definitionOf } from './definition.ts';
import { OccurrencePage, SchedulePreview, SchedulePreviewRequest } from './schema.ts';

const tag = 'Schedules';

/** The preview considers at most this many other schedules of the script. */
const maxOthers = 10;

const preview = operation({
  method: 'post',
  path: '/api/v1/schedules/preview',
  operationId: 'previewSchedule',
  summary: 'Preview the next due times of a schedule',
  description: 'With `script_id`, also shows overlaps with active runs and other schedules.',
  tag,
  access: { right: 'schedules.read' },
  body: {
    schema: SchedulePreviewRequest,
    example: { cron: '30 2 * * *', timezone: 'Europe/Berlin', count: 5 },
  },
  responses: { 200: { description: 'The next due times.', schema: SchedulePreview } },
  handle: async ({ principal, body }, { clock, readModels }) => {
    const { count = 10, from, script_id, schedule_id, ...timing } = body;
    const definition = definitionOf(timing, undefined);
    if (isProblem(definition)) return definition;
    const now = clock.now();
    const begin = from ? momentOf(from) : now;
    if (begin === undefined) return fieldProblem('from', 'is not a valid time');
    const exceptions = (await exceptionsOf(readModels, [{ definition }]))({ definition });
    const items = dueTimes(definition, exceptions, begin, count);
    if (script_id === undefined) return json(200, { items: items.map(alone), usual: null });
    const scriptId = parseScriptId(script_id);
    if (scriptId === undefined || !(await canSeeScript(principal, scriptId, readModels))) {
      return badField('script_id', 'script not found');
    }
    const groupIds = visibleGroups(principal);
    const [durations, schedules, active] = await Promise.all([
      readDurationStats(readModels, [scriptId]),
      listSchedules(readModels, { groupIds, scriptId }, undefined, maxOthers + 1),
      activeRuns(readModels, scriptId),
    ]);
    const usual = durations.get(scriptId);
    const others = schedules
      .filter((other) => other.schedule_id !== schedule_id)
      .slice(0, maxOthers);
    const startedAt = active.findLast((run) => run.started_at !== null)?.started_at;
    const overlapOf = (due: Date, before: Date | undefined) =>
      startedAt && (before ?? begin) <= now && now < due
        ? forecastOverlap(startedAt, now, due, usual)
        : overlapAt(before, due, usual);
    return json(200, {
      items: items.map((item, index) => ({
        ...item,
        overlap:
          item.skipped === null ? (overlapOf(item.utc, previousRun(items, index)) ?? null) : null,
        together: others
          .filter((other) => isDueBy(other, item.utc, usual?.p95_ms ?? 0))
          .map((other) => other.schedule_id),
      })),
      usual: usual ?? null,
    });
  },
});

/** The last due time before this item that starts a run. */
function previousRun(
  items: readonly { readonly utc: Date; readonly skipped: string | null }[],
  index: number,
): Date | undefined {
  return items.slice(0, index).findLast(({ skipped }) => skipped === null)?.utc;
}

/** A due time without overlap, because the definition belongs to no script. */
function alone<Item>(item: Item) {
  return { ...item, overlap: null, together: [] };
}

/** Whether a schedule is due at the given time, or at most this many milliseconds earlier. */
function isDueBy(schedule: ScheduleView, at: Date, withinMs: number): boolean {
  const from = new Date(at.getTime() - Math.max(withinMs, 1));
  const due = dueAfter(schedule.definition, schedule.created_at, from);
  return due !== undefined && due <= at;
}

function dueTimes(
  definition: ScheduleDefinition,
  exceptions: readonly CalendarPeriod[],
  now: Date,
  count: number,
) {
  const zone = zoneOf(definition.timezone);
  const items: { utc: Date; local: string; note: string | null; skipped: string | null }[] = [];
  let due = dueAfter(definition, now, now);
  while (due !== undefined && zone !== undefined && items.length < count) {
    items.push({
      utc: due,
      local: localText(zone, due),
      note: clockNote(zone, due) ?? null,
      skipped: periodAt(exceptions, definition.timezone, due)?.summary ?? null,
    });
    due = dueAfter(definition, now, due);
  }
  return items;
}

const occurrences = operation({
  method: 'get',
  path: '/api/v1/schedules/{schedule_id}/occurrences',
  operationId: 'listOccurrences',
  summary:
    'List the past due times of a schedule and their outcomes, newest first; also for deleted schedules',
  tag,
  access: { right: 'schedules.read' },
  parameters: { schedule_id: pathParameters.scheduleId },
  query: Exact(pageQuery),
  responses: onePage(OccurrencePage),
  handle: async ({ principal, parameters: { schedule_id }, query, url }, { readModels }) => {
    const schedule = await findSchedule(readModels, schedule_id);
    if (schedule === undefined || !isIn(principal, schedule.group_id)) return notFound;
    const { limit, cursor } = query;
    const request = { list: 'occurrences', filter: schedule_id, url, limit, cursor };
    const before = keyOf(request, momentOf);
    if (isProblem(before)) return before;
    const size = (limit ?? defaultLimit) + 1;
    const rows = await listOccurrences(readModels, schedule_id, before.key, size);
    return pageReply(
      request,
      rows,
      (row) => row.due_at.toISOString(),
      ({ due_at, outcome, reason, run_id }) => ({ due_at, outcome, reason, run_id }),
    );
  },
});

function momentOf(text: string): Date | undefined {
  const moment = new Date(text);
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}

export const scheduleTimeOperations: readonly Operation[] = [preview, occurrences];
