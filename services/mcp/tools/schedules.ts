/** Tools for schedules. */
import Type from 'typebox';
import { part } from '#services/shared/api-client.ts';
import { picked, tool, type Tool } from '../tool.ts';
import { Cursor, Limit, listOf, NextCursor, Schedule, ScriptId } from './shapes.ts';

/** One of `cron`, `interval_seconds` and `once_at`. */
const timing = {
  cron: Type.Optional(
    Type.String({
      description: 'Five fields, or six with seconds first, or a macro such as @hourly.',
    }),
  ),
  interval_seconds: Type.Optional(Type.Integer({ minimum: 1 })),
  once_at: Type.Optional(
    Type.String({ description: 'RFC 3339, in the future. The schedule is due at this time only.' }),
  ),
  timezone: Type.Optional(Type.String({ description: 'IANA time zone name. Default: UTC.' })),
  start_at: Type.Optional(Type.String({ description: 'RFC 3339.' })),
  end_at: Type.Optional(Type.String({ description: 'RFC 3339.' })),
  calendar_id: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: "From list_calendars. Due times during the calendar's events are skipped.",
    }),
  ),
};
const Name = Type.Optional(
  Type.Union([Type.String(), Type.Null()], {
    description: 'Display name of the schedule; null for none.',
  }),
);
const ScheduleId = Type.String({ description: 'From list_schedules.' });
const Params = Type.Object(
  {},
  { additionalProperties: true, description: 'Parameters for each run, as JSON.' },
);
const DueTime = Type.Object({
  utc: Type.String(),
  local: Type.String(),
  note: Type.Union([Type.String(), Type.Null()]),
  skipped: Type.Union([Type.String(), Type.Null()], {
    description: 'The calendar event that causes the due time to be skipped.',
  }),
  overlap: Type.Union([Type.String(), Type.Null()], {
    description: 'Whether the previous run will still be active: likely or possible.',
  }),
  together: Type.Array(Type.String(), {
    description: 'Other schedules of the script that are due at the same time.',
  }),
});

const Backfill = Type.Object({
  items: Type.Array(
    Type.Object({
      due_at: Type.String(),
      local: Type.String(),
      run_id: Type.Union([Type.String(), Type.Null()], { description: 'Null in a dry run.' }),
    }),
  ),
  remaining: Type.Integer({
    description:
      'Number of due times in the range that still have no run because max_runs was reached.',
  }),
  dry_run: Type.Boolean(),
});

const listSchedules = tool({
  name: 'list_schedules',
  title: 'List schedules',
  description: 'Lists the schedules of one script, or all schedules that you can see.',
  effect: 'reads',
  input: Type.Object({ script_id: Type.Optional(ScriptId), limit: Limit, cursor: Cursor }),
  output: Type.Object({ items: Type.Array(Schedule), next_cursor: NextCursor }),
  handle: (query, use) => listOf(Schedule, '/schedules', query, use),
});

const Calendar = Type.Object({ id: Type.String(), name: Type.String() });

const listCalendars = tool({
  name: 'list_calendars',
  title: 'List exception calendars',
  description: 'Lists the calendars whose events schedules can skip, such as holidays.',
  effect: 'reads',
  input: Type.Object({ limit: Limit, cursor: Cursor }),
  output: Type.Object({ items: Type.Array(Calendar), next_cursor: NextCursor }),
  handle: (query, use) => listOf(Calendar, '/calendars', query, use),
});

const previewSchedule = tool({
  name: 'preview_schedule',
  title: 'Preview a schedule',
  description:
    'Returns the next due times of a schedule, with notes on daylight saving time changes. With a ' +
    'script, also shows overlaps with active runs and other schedules. Changes nothing. Use it before ' +
    'create_schedule.',
  effect: 'reads',
  input: Type.Object({
    script_id: Type.Optional(ScriptId),
    schedule_id: Type.Optional(ScheduleId),
    ...timing,
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  }),
  output: Type.Object({ items: Type.Array(DueTime) }),
  handle: async (given, { api, signal }) => {
    const asked = { body: given, signal };
    const { body } = await api.call<{ readonly items: readonly object[] }>(
      'POST',
      '/schedules/preview',
      asked,
    );
    return { items: body.items.map((item) => picked(DueTime, item)) };
  },
});

const createSchedule = tool({
  name: 'create_schedule',
  title: 'Schedule a script',
  description:
    'Creates a schedule that runs a script by a cron expression, at an interval in seconds, or once.',
  effect: 'adds',
  input: Type.Object({
    script_id: ScriptId,
    name: Name,
    ...timing,
    params: Type.Optional(Params),
  }),
  output: Type.Object({ schedule: Schedule }),
  handle: async (body, { api }) => ({
    schedule: picked(Schedule, (await api.call<object>('POST', '/schedules', { body })).body),
  }),
});

const changeSchedule = tool({
  name: 'change_schedule',
  title: 'Change a schedule',
  description:
    'Changes the given settings of a schedule, such as its times or whether it is enabled.',
  effect: 'replaces',
  input: Type.Object({
    schedule_id: ScheduleId,
    name: Name,
    ...timing,
    enabled: Type.Optional(Type.Boolean()),
  }),
  output: Type.Object({ schedule: Schedule }),
  handle: async ({ schedule_id, ...body }, { api }) => {
    const path = `/schedules/${part(schedule_id)}`;
    const changed = await api.call<object>('PATCH', path, {
      headers: { 'Content-Type': 'application/merge-patch+json' },
      body,
    });
    return { schedule: picked(Schedule, changed.body) };
  },
});

const deleteSchedule = tool({
  name: 'delete_schedule',
  title: 'Delete a schedule',
  description: 'Stops the schedule. Its history stays available.',
  effect: 'replaces',
  input: Type.Object({ schedule_id: ScheduleId }),
  output: Type.Object({ deleted: Type.String() }),
  handle: async ({ schedule_id }, { api }) => {
    await api.call('DELETE', `/schedules/${part(schedule_id)}`);
    return { deleted: schedule_id };
  },
});

const backfillSchedule = tool({
  name: 'backfill_schedule',
  title: 'Backfill a schedule',
  description:
    'Starts runs for past due times of a schedule that have no run, oldest first. With dry_run, lists the due times ' +
    'and starts nothing. Use dry_run first.',
  effect: 'adds',
  input: Type.Object({
    schedule_id: ScheduleId,
    from: Type.String({ description: 'RFC 3339.' }),
    to: Type.String({ description: 'RFC 3339, exclusive.' }),
    max_runs: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    dry_run: Type.Boolean(),
  }),
  output: Backfill,
  handle: async ({ schedule_id, ...body }, { api }) => {
    const path = `/schedules/${part(schedule_id)}/backfill`;
    return picked(Backfill, (await api.call<object>('POST', path, { body })).body);
  },
});

export const scheduleTools: readonly Tool[] = [
  listSchedules,
  listCalendars,
  previewSchedule,
  createSchedule,
  changeSchedule,
  deleteSchedule,
  backfillSchedule,
];
