/** Lists, creates, reads, changes and deletes schedules. */
import { mustParse, parseScheduleId, parseScriptId } from '#domain/kernel/ids.ts';
import { withoutExceptions } from '#projections/calendars/queries.ts';
import { findSchedule, listSchedules, type ScheduleView } from '#projections/schedules/queries.ts';
import Type from 'typebox';
import { visibleGroups } from '../access/visibility.ts';
import { etag, isUnchanged, versionOf } from '../http/conditional.ts';
import { operation, type Operation } from '../http/operation.ts';
import { type Accepted, noContent, positionHeader, writtenId } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply, onePage } from '../http/paging.ts';
import { aboutCurrentGroups, atParameter } from '../http/point-in-time.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { json, nothing, type Answer } from '../http/reply.ts';
import { Exact, examples, pageQuery, pathParameters, Uuid } from '../http/schema.ts';
import { aboutPastLists, listAt, replyAt } from '../replay/resource-at.ts';
import { viewWithParams } from '../runs/trigger-params.ts';
import type { Services } from '../services.ts';
import { changeSchedule, createSchedule, visibleSchedule } from './change-schedule.ts';
import { NewSchedule, Schedule, ScheduleChanges, SchedulePage } from './schema.ts';
import { scheduleJson } from './view.ts';

const tag = 'Schedules';
const parameters = { schedule_id: pathParameters.scheduleId };
const shown = {
  description: 'The schedule.',
  schema: Schedule,
  headers: ['ETag', 'Orch-Position'],
} as const;

const aboutDueTimes =
  'With `at`, `next_fire_at` and `last_fire_at` are `null`, because they are not part of the ' +
  "schedule's history.";

const list = operation({
  method: 'get',
  path: '/api/v1/schedules',
  operationId: 'listSchedules',
  summary: 'List schedules, newest first, optionally at a point in time',
  description: `${aboutPastLists} ${aboutDueTimes}`,
  tag,
  access: { right: 'schedules.read' },
  query: Exact({
    ...pageQuery,
    script_id: Type.Optional(Uuid()),
    at: atParameter,
  }),
  responses: onePage(SchedulePage),
  handle: async ({ principal, query, url }, services) => {
    const { readModels } = services;
    const { limit, cursor, script_id, at } = query;
    if (at !== undefined) {
      const past = { principal, at, url, limit, cursor, filter: { script_id } };
      return await listAt('schedules', past, services);
    }
    const groupIds = visibleGroups(principal);
    const filter = { groupIds, ...(script_id !== undefined && { scriptId: script_id }) };
    const request = { list: 'schedules', filter, url, limit, cursor };
    const after = keyOf(request, parseScheduleId);
    if (isProblem(after)) return after;
    const rows = await listSchedules(readModels, filter, after.key, (limit ?? defaultLimit) + 1);
    const shownRows = await withoutExceptions(readModels, rows);
    const view = await viewWithParams(rows, scheduleJson, services);
    return pageReply(request, shownRows, (row) => row.schedule_id, view);
  },
});

const create = operation({
  method: 'post',
  path: '/api/v1/schedules',
  operationId: 'createSchedule',
  summary: 'Create a schedule for a script',
  description:
    'The due times follow a cron expression, an interval in seconds, or a single point in time.',
  tag,
  access: { right: 'schedules.write' },
  creates: true,
  body: {
    schema: NewSchedule,
    example: { script_id: examples.scriptId, cron: '30 2 * * *', timezone: 'Europe/Berlin' },
  },
  responses: {
    201: {
      description: 'The new schedule.',
      schema: Schedule,
      headers: ['Location', 'ETag', 'Orch-Position'],
    },
  },
  handle: async (call, services) => {
    const outcome = await createSchedule(call, services);
    return isProblem(outcome) ? outcome : await show(outcome, services, 201);
  },
});

const get = operation({
  method: 'get',
  path: '/api/v1/schedules/{schedule_id}',
  operationId: 'getSchedule',
  summary: 'Read a schedule, now or at a point in time',
  description: `${aboutCurrentGroups} ${aboutDueTimes}`,
  tag,
  access: { right: 'schedules.read' },
  parameters,
  query: Exact({ at: atParameter }),
  requestHeaders: ['If-None-Match'],
  responses: {
    200: { description: 'The schedule.', schema: Schedule, headers: ['ETag'] },
    304: { description: 'Not modified.' },
  },
  handle: async ({ principal, parameters: { schedule_id }, query: { at }, header }, services) => {
    if (at !== undefined)
      return await replyAt('schedules', { principal, at, id: schedule_id }, services);
    const schedule = await visibleSchedule(principal, schedule_id, services);
    if (schedule === undefined) return notFound;
    const headers = { ETag: etag(schedule.version) };
    if (isUnchanged(header('If-None-Match'), String(schedule.version)))
      return nothing(304, headers);
    return json(200, await withParams(schedule, services), headers);
  },
});

const change = operation({
  method: 'patch',
  path: '/api/v1/schedules/{schedule_id}',
  operationId: 'changeSchedule',
  summary: 'Change a schedule',
  description:
    'The next due time follows the new settings. The previously pending due time is dropped.',
  tag,
  access: { right: 'schedules.write' },
  parameters,
  requestHeaders: ['If-Match'],
  body: {
    schema: ScheduleChanges,
    mediaTypes: ['application/merge-patch+json'],
    example: { cron: '@hourly', overlap: 'queue' },
  },
  responses: { 200: shown },
  refusals: ['version_mismatch'],
  handle: async (call, services) => {
    const outcome = await changeSchedule(call, services);
    return isProblem(outcome) ? outcome : await show(outcome, services, 200);
  },
});

const remove = operation({
  method: 'delete',
  path: '/api/v1/schedules/{schedule_id}',
  operationId: 'deleteSchedule',
  summary: 'Delete a schedule; its history stays available',
  tag,
  access: { right: 'schedules.write' },
  parameters,
  requestHeaders: ['If-Match'],
  responses: { 204: { description: 'The schedule was deleted.', headers: ['Orch-Position'] } },
  refusals: ['version_mismatch'],
  handle: async ({ principal, parameters: { schedule_id }, header, context }, services) => {
    const schedule = await visibleSchedule(principal, schedule_id, services);
    if (schedule === undefined) return notFound;
    const condition = versionOf(header('If-Match'));
    if (isProblem(condition)) return condition;
    return noContent(
      await services.commands.execute(
        {
          type: 'DeleteSchedule',
          scheduleId: schedule_id,
          scriptId: mustParse(parseScriptId, schedule.script_id),
          ...(condition.version !== undefined && { expectedVersion: condition.version }),
        },
        context,
      ),
    );
  },
});

/** Responds with the schedule that a command wrote. A repeated request gets the schedule that the first request
 *  created. */
async function show(outcome: Accepted, services: Services, status: 200 | 201): Promise<Answer> {
  const id = writtenId(outcome, parseScheduleId);
  const schedule = await findSchedule(services.readModels, id);
  if (schedule === undefined) throw new Error(`schedule missing from the read model: ${id}`);
  return json(status, await withParams(schedule, services), {
    ...(status === 201 && { Location: `/api/v1/schedules/${id}` }),
    ETag: etag(schedule.version),
    ...positionHeader(outcome),
  });
}

async function withParams(schedule: ScheduleView, services: Services) {
  const [row = schedule] = await withoutExceptions(services.readModels, [schedule]);
  return (await viewWithParams([row], scheduleJson, services))(row);
}

export const scheduleOperations: readonly Operation[] = [list, create, get, change, remove];
