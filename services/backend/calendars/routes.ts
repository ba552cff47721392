/** Manages exception calendars. Schedules start no runs during a calendar's events. */
import type { CalendarContent } from '#domain/calendar/calendar.ts';
import { mustParse, parseCalendarId, type CalendarId } from '#domain/kernel/ids.ts';
import { CalendarError } from '#infra/calendars/calendar-error.ts';
import { readCalendar } from '#infra/calendars/read-calendar.ts';
import { findCalendar, listCalendars } from '#projections/calendars/queries.ts';
import type { CalendarsTable } from '#projections/calendars/table.ts';
import { operation, type Operation } from '../http/operation.ts';
import { noContent, writtenReply } from '../http/outcome.ts';
import { defaultLimit, keyOf, onePage, pageReply } from '../http/paging.ts';
import { badField, isProblem, notFound, type Problem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters } from '../http/schema.ts';
import type { Services } from '../services.ts';
import {
  Calendar,
  CalendarChanges,
  CalendarContentInput,
  CalendarPage,
  CalendarPreview,
  NewCalendar,
} from './schema.ts';

const tag = 'Schedules';
const path = '/api/v1/calendars';
const parameters = { calendar_id: pathParameters.calendarId };
const yearMs = 365 * 86_400_000;
const yearsAhead = 5;

const example = `BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
UID:christmas
DTSTART;VALUE=DATE:20261225
DTEND;VALUE=DATE:20261227
RRULE:FREQ=YEARLY
SUMMARY:Christmas
END:VEVENT
END:VCALENDAR
`;

const list = operation({
  method: 'get',
  path,
  operationId: 'listCalendars',
  summary: 'List the exception calendars, newest first',
  tag,
  access: { right: 'system.read' },
  query: Exact(pageQuery),
  responses: onePage(CalendarPage),
  handle: async ({ query: { limit, cursor }, url }, { readModels }) => {
    const request = { list: 'calendars', filter: {}, url, limit, cursor };
    const after = keyOf(request, parseCalendarId);
    if (isProblem(after)) return after;
    const rows = await listCalendars(readModels, after.key, (limit ?? defaultLimit) + 1);
    return pageReply(request, rows, (row) => row.calendar_id, calendarJson);
  },
});

const get = operation({
  method: 'get',
  path: `${path}/{calendar_id}`,
  operationId: 'getCalendar',
  summary: 'Read an exception calendar',
  tag,
  access: { right: 'system.read' },
  parameters,
  responses: { 200: { description: 'The calendar.', schema: Calendar } },
  handle: async ({ parameters: { calendar_id } }, { readModels }) => {
    const calendar = await findCalendar(readModels, calendar_id);
    return calendar === undefined ? notFound : json(200, calendarJson(calendar));
  },
});

const create = operation({
  method: 'post',
  path,
  operationId: 'createCalendar',
  summary: 'Create an exception calendar from iCalendar text',
  description:
    "A schedule that refers to the calendar (`calendar_id`) skips due times during the calendar's " +
    'events.',
  tag,
  access: { right: 'system.manage' },
  creates: true,
  body: { schema: NewCalendar, example: { name: 'Holidays', content: example } },
  responses: {
    201: {
      description: 'The new calendar.',
      schema: Calendar,
      headers: ['Location', 'Orch-Position'],
    },
  },
  handle: async ({ body: { name, content: text }, context }, services) => {
    const content = await contentOf(text, services);
    if (isProblem(content)) return content;
    const calendarId = mustParse(parseCalendarId, services.ids.next());
    const command = { type: 'CreateCalendar', calendarId, name, content } as const;
    const outcome = await services.commands.execute(command, context);
    return await writtenReply(outcome, parseCalendarId, shown(services), path);
  },
});

const change = operation({
  method: 'patch',
  path: `${path}/{calendar_id}`,
  operationId: 'changeCalendar',
  summary: 'Change the name or the events of an exception calendar',
  description: 'Applies to all due times that have not been processed yet.',
  tag,
  access: { right: 'system.manage' },
  parameters,
  body: {
    schema: CalendarChanges,
    example: { name: 'Bank holidays' },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: {
    200: { description: 'The calendar.', schema: Calendar, headers: ['Orch-Position'] },
  },
  handle: async ({ parameters, body: { name, content: text }, context }, services) => {
    const content = text === undefined ? undefined : await contentOf(text, services);
    if (isProblem(content)) return content;
    const command = {
      type: 'ChangeCalendar',
      calendarId: parameters.calendar_id,
      ...(name !== undefined && { name }),
      ...(content !== undefined && { content }),
    } as const;
    const outcome = await services.commands.execute(command, context);
    return await writtenReply(outcome, parseCalendarId, shown(services));
  },
});

const preview = operation({
  method: 'post',
  path: `${path}/preview`,
  operationId: 'previewCalendar',
  summary: 'List the events in iCalendar text without storing the text',
  tag,
  access: { right: 'system.manage' },
  body: { schema: CalendarContentInput, example: { content: example } },
  responses: { 200: { description: 'The events.', schema: CalendarPreview } },
  handle: async ({ body: { content: text } }, services) => {
    const content = await contentOf(text, services);
    if (isProblem(content)) return content;
    return json(200, { periods: content.periods, covered_until: content.coveredUntil });
  },
});

const remove = operation({
  method: 'delete',
  path: `${path}/{calendar_id}`,
  operationId: 'deleteCalendar',
  summary: 'Delete an exception calendar that no schedule uses',
  tag,
  access: { right: 'system.manage' },
  parameters,
  responses: { 204: { description: 'The calendar was deleted.', headers: ['Orch-Position'] } },
  refusals: ['calendar_in_use'],
  handle: async ({ parameters: { calendar_id: calendarId }, context }, services) => {
    if ((await findCalendar(services.readModels, calendarId)) === undefined) return notFound;
    return noContent(
      await services.commands.execute({ type: 'DeleteCalendar', calendarId }, context),
    );
  },
});

async function contentOf(text: string, { clock }: Services): Promise<CalendarContent | Problem> {
  const nowMs = clock.now().getTime();
  try {
    const until = new Date(nowMs + yearsAhead * yearMs);
    return await readCalendar(text, new Date(nowMs - yearMs), until);
  } catch (error) {
    if (error instanceof CalendarError)
      return badField('content', error.message.replace(/\.$/, ''));
    throw error;
  }
}

const shown =
  ({ readModels }: Services) =>
  async (id: CalendarId) => {
    const row = await findCalendar(readModels, id);
    return row && calendarJson(row);
  };

function calendarJson({
  calendar_id: id,
  name,
  periods,
  covered_until,
  updated_at,
}: CalendarsTable) {
  return { id, name, periods, covered_until, updated_at };
}

export const calendarOperations: readonly Operation[] = [
  list,
  get,
  create,
  preview,
  change,
  remove,
];
