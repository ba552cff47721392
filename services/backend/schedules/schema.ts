/** The wire format of schedules (contract §3, "Schedule"). */
import { maxParamsBytes } from '#domain/run/run.ts';
import { catchUps, occurrenceOutcomes, overlaps } from '#domain/schedule/schedule.ts';
import Type from 'typebox';
import { durationStatsExample, UsualDuration } from '../dashboard/schema.ts';
import { Exact, examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';

const kind = Type.Enum(['cron', 'interval', 'once'], { title: 'ScheduleKind' });
const cron = Type.String({
  minLength: 1,
  maxLength: 512,
  description:
    'Five fields, or six with seconds first. Supports numbers, names, ranges, steps, lists, `L` and `#`, ' +
    'and macros such as `@hourly`.',
});
const timezone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'IANA time zone name, such as `Europe/Berlin`.',
});
const intervalSeconds = Type.Integer({ minimum: 1, maximum: 31_536_000 });
const moment = (description: string) =>
  Type.String({ format: 'date-time', maxLength: 40, description });
const onceAt = moment('Due time of a one-shot schedule. Must include a UTC offset.');
const startAt = moment(
  'Start time. For an interval schedule, intervals are counted from this time.',
);
const endAt = moment('End time.');
const catchUp = Type.Enum([...catchUps], {
  description: 'Which due times that were missed during downtime start a run afterwards.',
});
const maxLateness = Type.Integer({
  minimum: 0,
  maximum: 31_536_000,
  description: 'Maximum delay in seconds. A due time that is processed later counts as missed.',
});
const overlap = Type.Enum([...overlaps], {
  description:
    "What to do if the schedule's previous run is still active: skip the due time, wait, or stop the " +
    'previous run.',
});
const params = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      `Parameters for each run; at most ${maxParamsBytes / 1024} KiB of JSON. A change replaces them as a ` +
      'whole.',
  },
);

const calendarId = Uuid(
  'Exception calendar: due times during its events are skipped. All-day events apply in the time ' +
    'zone of the schedule.',
);

const timing = {
  kind: Type.Optional(kind),
  cron: Type.Optional(Nullable(cron)),
  timezone: Type.Optional(timezone),
  interval_seconds: Type.Optional(Nullable(intervalSeconds)),
  once_at: Type.Optional(Nullable(onceAt)),
  start_at: Type.Optional(Nullable(startAt)),
  end_at: Type.Optional(Nullable(endAt)),
};

const scheduleName = Type.String({
  maxLength: 100,
  description: 'Display name; null or empty for none. Renaming does not change the due times.',
});

const rules = {
  name: Type.Optional(Nullable(scheduleName)),
  enabled: Type.Optional(Type.Boolean()),
  catch_up: Type.Optional(catchUp),
  max_lateness_seconds: Type.Optional(maxLateness),
  overlap: Type.Optional(overlap),
  params: Type.Optional(Nullable(params)),
  calendar_id: Type.Optional(Nullable(calendarId)),
};

export const ScheduleChanges = Exact(
  { ...timing, ...rules },
  {
    title: 'ScheduleChanges',
    description:
      'Omitted fields stay unchanged; `kind` is determined by `cron`, `interval_seconds` or `once_at`.',
  },
);

export const NewSchedule = Exact(
  { script_id: Uuid(), ...timing, ...rules },
  { title: 'ScheduleInput' },
);

export const SchedulePreviewRequest = Exact(
  {
    ...timing,
    calendar_id: Type.Optional(Nullable(calendarId)),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
    from: Type.Optional(
      Nullable(moment('Start of the preview, which may be in the past. Default: now.')),
    ),
    script_id: Type.Optional(
      Uuid('Script whose runs and other schedules are checked for overlaps.'),
    ),
    schedule_id: Type.Optional(
      Uuid(
        'The existing schedule that is previewed, so that it is not reported as overlapping itself.',
      ),
    ),
  },
  { title: 'SchedulePreviewRequest' },
);

export const SchedulePreview = Exact(
  {
    items: Type.Array(
      Exact(
        {
          utc: Time(),
          local: Type.String({ description: 'Local time in the time zone.' }),
          note: Nullable(Type.String({ description: 'Daylight saving time changes on this day.' })),
          skipped: Nullable(
            Type.String({
              description: 'The calendar event that causes the due time to be skipped.',
            }),
          ),
          overlap: Nullable(
            Type.Enum(['likely', 'possible'], {
              description:
                'Whether the previous run, or the currently active run, will still be active at ' +
                'this time. ' +
                '`likely`: at least half of the runs take that long. `possible`: more than 5% do, the active run ' +
                'has already taken longer, or no run has ended yet.',
            }),
          ),
          together: Type.Array(Uuid(), {
            description:
              'Other schedules of the script that are due at the same time, or so shortly before ' +
              'that at least 5% of their runs would still be active.',
          }),
        },
        { title: 'DueTime' },
      ),
    ),
    usual: Nullable(UsualDuration),
  },
  {
    title: 'SchedulePreview',
    examples: [
      {
        items: [
          {
            utc: '2026-11-22T01:30:00.000Z',
            local: '2026-11-22T02:30:00+01:00',
            note: null,
            skipped: null,
            overlap: null,
            together: [],
          },
        ],
        usual: durationStatsExample,
      },
    ],
  },
);

const scheduleId = '019aa3f5-2b3c-7d4e-8f50-6a7b8c9d0e1f';

export const Schedule = Exact(
  {
    id: Uuid(),
    script_id: Uuid(),
    script_name: Type.String(),
    name: Nullable(scheduleName),
    kind,
    cron: Nullable(cron),
    timezone,
    interval_seconds: Nullable(intervalSeconds),
    once_at: Nullable(onceAt),
    start_at: Nullable(startAt),
    end_at: Nullable(endAt),
    enabled: Type.Boolean(),
    catch_up: catchUp,
    max_lateness_seconds: maxLateness,
    overlap,
    params: Nullable(params),
    calendar_id: Nullable(calendarId),
    next_fire_at: Nullable(
      Time('The pending due time. Due times that the calendar skips are omitted.'),
    ),
    last_fire_at: Nullable(Time('The last due time that started a run.')),
    version: Type.Integer({
      minimum: 1,
      description:
        'Version of the schedule, incremented by each change. Also the value of the `ETag` header.',
    }),
    created_at: Time(),
    created_by: Type.String(),
    updated_at: Time(),
    updated_by: Type.String(),
  },
  {
    title: 'Schedule',
    examples: [
      {
        id: scheduleId,
        script_id: examples.scriptId,
        script_name: 'Nightly report',
        name: 'Before the shops open',
        kind: 'cron',
        cron: '30 2 * * *',
        timezone: 'Europe/Berlin',
        interval_seconds: null,
        once_at: null,
        start_at: null,
        end_at: null,
        enabled: true,
        catch_up: 'last',
        max_lateness_seconds: 3600,
        overlap: 'skip',
        params: { limit: 10 },
        calendar_id: null,
        next_fire_at: '2026-11-22T01:30:00.000Z',
        last_fire_at: null,
        version: 1,
        created_at: examples.time,
        created_by: 'ada@example.com',
        updated_at: examples.time,
        updated_by: 'ada@example.com',
      },
    ],
  },
);

export const SchedulePage = Page('SchedulePage', Schedule);

export const OccurrencePage = Page(
  'OccurrencePage',
  Exact(
    {
      due_at: Time(),
      outcome: Type.Enum([...occurrenceOutcomes], {
        title: 'OccurrenceOutcome',
        description:
          '`fired` (on time), `late` (up to a minute late), `caught_up` (allowed by `catch_up`) ' +
          'and `backfilled` mean that a run was started. `skipped` and `missed` mean that no run ' +
          'was started.',
      }),
      reason: Nullable(Type.String({ description: 'Why no run was started.' })),
      run_id: Nullable(Uuid()),
    },
    {
      title: 'Occurrence',
      examples: [
        {
          due_at: '2026-11-21T01:30:00.000Z',
          outcome: 'fired',
          reason: null,
          run_id: examples.runId,
        },
      ],
    },
  ),
);
