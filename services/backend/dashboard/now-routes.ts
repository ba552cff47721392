/** The current and upcoming activity on the dashboard. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dueCounts, type CountedSchedule } from '#domain/schedule/due-counts.ts';
import { dueAfter } from '#domain/schedule/due-times.ts';
import { listRuns } from '#projections/runs/lists.ts';
import { usualDurations } from '#projections/runs/usual.ts';
import { comingSchedules, type ComingSchedule } from '#projections/schedules/coming.ts';
import { failingScripts } from '#projections/scripts/failing.ts';
import Type from 'typebox';
import { visibleGroups } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { json } from '../http/reply.ts';
import { DashboardFires, DashboardNow } from './schema.ts';

const tag = 'System';
const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
/** The maximum of each kind. */
const shown = 6;
/** The maximum number of schedules that are considered for the due times of a day. */
const maxSchedules = 1000;
/** Computing the next due time of a cron expression takes about 0.1 ms. */
const maxCronTimes = 1500;
const latest = new Date(8.64e15);

const now = operation({
  method: 'get',
  path: '/api/v1/dashboard/now',
  operationId: 'dashboardNow',
  summary: 'List failing scripts, running runs and upcoming due times',
  description: "Covers the scripts of the caller's groups. Each list has at most `limit` items.",
  tag,
  access: { right: 'runs.read' },
  query: Type.Object(
    { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: shown })) },
    { additionalProperties: false },
  ),
  responses: { 200: { description: 'The current state.', schema: DashboardNow } },
  handle: async ({ principal, query: { limit = shown } }, { readModels }) => {
    const groupIds = visibleGroups(principal);
    const [failing, runs, due] = await Promise.all([
      failingScripts(readModels, groupIds, limit),
      listRuns(readModels, { groupIds, statuses: ['running'] }, undefined, limit),
      comingSchedules(readModels, groupIds, latest, limit),
    ]);
    const usual = await usualDurations(
      readModels,
      runs.map((run) => run.script_id),
    );
    return json(200, {
      failing_total: failing.total,
      failing: failing.items,
      running: runs.map(({ run_id, script_id, script_name, started_at }) => ({
        run_id,
        script_id,
        script_name,
        started_at,
        usual: usual.get(script_id) ?? null,
      })),
      due: due.map(({ schedule_id, script_id, script_name, next_fire_at: due_at }) => {
        return { schedule_id, script_id, script_name, due_at };
      }),
    });
  },
});

const fires = operation({
  method: 'get',
  path: '/api/v1/dashboard/fires',
  operationId: 'dashboardFires',
  summary: 'Count the due times of the next 24 hours',
  description:
    "Hourly counts for the schedules of the caller's groups. If there are very many due times, counting " +
    'stops at `counted_until`.',
  tag,
  access: { right: 'schedules.read' },
  responses: { 200: { description: 'Counts for the next 24 hours.', schema: DashboardFires } },
  handle: async ({ principal }, { readModels, clock }) => {
    const from = clock.now();
    const to = new Date(from.getTime() + dayMs);
    const groupIds = visibleGroups(principal);
    const coming = await comingSchedules(readModels, groupIds, to, maxSchedules);
    const known = coming.length < maxSchedules ? to : (coming.at(-1)?.next_fire_at ?? to);
    const ends = hoursUntil(from, to).filter((end) => end <= known);
    const schedules = coming.flatMap((schedule) => countedFrom(from, schedule));
    const hours: { begins_at: Date; due: number }[] = [];
    let begins = from;
    for (const due of dueCounts(schedules, ends, maxCronTimes)) {
      hours.push({ begins_at: begins, due });
      begins = ends[hours.length - 1] ?? to;
      // Lets other requests proceed.
      await nextTurn();
    }
    return json(200, { from, to, counted_until: begins, hours });
  },
});

/** Excludes due times that have already passed. */
function countedFrom(
  from: Date,
  { definition, created_at: createdAt, next_fire_at: next }: ComingSchedule,
): readonly CountedSchedule[] {
  const nextAt =
    next >= from ? next : dueAfter(definition, createdAt, new Date(from.getTime() - 1));
  return nextAt === undefined ? [] : [{ definition, createdAt, nextAt }];
}

/** The ends of UTC hours until `to`, and `to`. */
function hoursUntil(from: Date, to: Date): readonly Date[] {
  const ends: Date[] = [];
  const first = (Math.floor(from.getTime() / hourMs) + 1) * hourMs;
  for (let end = first; end < to.getTime(); end += hourMs) ends.push(new Date(end));
  return [...ends, to];
}

export const dashboardNowOperations: readonly Operation[] = [now, fires];
