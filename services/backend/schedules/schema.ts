/** Schedules on the wire (contract §3, "Schedule"). */
import { maxParamsBytes } from '#domain/run/run.ts';
import { catchUps, occurrenceOutcomes, overlaps } from '#domain/schedule/schedule.ts';
import Type from 'typebox';
import { usualExample, UsualDuration } from '../dashboard/schema.ts';
import { examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';

const kind = Type.Enum(['cron', 'interval'], { title: 'ScheduleKind' });
const cron = Type.String({
  minLength: 1,
  maxLength: 512,
  description:
    'Five fields, or six with seconds first: numbers, names, ranges, steps, lists, `L` and `#`, or a macro such as `@hourly`.',
});
const timezone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Name in the IANA database, such as `Europe/Berlin`.',
});
const intervalSeconds = Type.Integer({ minimum: 1, maximum: 31_536_000 });
const moment = (description: string) =>
  Type.String({ format: 'date-time', maxLength: 40, description });
const startAt = moment('Nothing is due before. An interval counts from here.');
const endAt = moment('Nothing is due after.');
const catchUp = Type.Enum([...catchUps], {
  description: 'Which of the due times that were slept through start a run when it is awake again.',
});
const maxLateness = Type.Integer({
  minimum: 0,
  maximum: 31_536_000,
  description: 'A due time that could not be served for longer is missed.',
});
const overlap = Type.Enum([...overlaps], {
  description:
    'What a due time does while a run of the schedule is queued or running: nothing, wait for its turn, or have that run stopped first.',
});
const params = Type.Object(
  {},
  {
    additionalProperties: true,
    description: `At most ${maxParamsBytes / 1024} KiB of JSON for each run. Replaced as a whole.`,
  },
);

const timing = {
  kind: Type.Optional(kind),
  cron: Type.Optional(Nullable(cron)),
  timezone: Type.Optional(timezone),
  interval_seconds: Type.Optional(Nullable(intervalSeconds)),
  start_at: Type.Optional(Nullable(startAt)),
  end_at: Type.Optional(Nullable(endAt)),
};

const rules = {
  enabled: Type.Optional(Type.Boolean()),
  catch_up: Type.Optional(catchUp),
  max_lateness_seconds: Type.Optional(maxLateness),
  overlap: Type.Optional(overlap),
  params: Type.Optional(Nullable(params)),
};

export const ScheduleChanges = Type.Object(
  { ...timing, ...rules },
  {
    title: 'ScheduleChanges',
    additionalProperties: false,
    description: 'What is not named stays; `kind` follows from `cron` or `interval_seconds`.',
  },
);

export const NewSchedule = Type.Object(
  { script_id: Uuid(), ...timing, ...rules },
  { title: 'ScheduleInput', additionalProperties: false },
);

export const SchedulePreviewRequest = Type.Object(
  {
    ...timing,
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
    from: Type.Optional(Nullable(moment('As of when, also in the past; `null` or absent: now.'))),
    script_id: Type.Optional(
      Uuid('Whose runs and other schedules are looked at for what comes together.'),
    ),
    schedule_id: Type.Optional(Uuid('The schedule that this is or becomes, which is no other.')),
  },
  { title: 'SchedulePreviewRequest', additionalProperties: false },
);

export const SchedulePreview = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          utc: Time(),
          local: Type.String({ description: 'As clocks of the time zone show it.' }),
          note: Nullable(Type.String({ description: 'On days on which clocks are moved.' })),
          overlap: Nullable(
            Type.Enum(['likely', 'possible'], {
              description:
                'The run of the due time before, or of the next one the run that goes on now, is still under way: half, or ' +
                'more than 5 of 100, take that long. `possible` also where the run of now has taken longer, or none is ' +
                'known to have ended.',
            }),
          ),
          together: Type.Array(Uuid(), {
            description:
              'Other schedules of the script that are due then, or so shortly before that 5 of 100 runs would still be under way.',
          }),
        },
        { title: 'DueTime', additionalProperties: false },
      ),
    ),
    usual: Nullable(UsualDuration),
  },
  {
    title: 'SchedulePreview',
    additionalProperties: false,
    examples: [
      {
        items: [
          {
            utc: '2026-11-22T01:30:00.000Z',
            local: '2026-11-22T02:30:00+01:00',
            note: null,
            overlap: null,
            together: [],
          },
        ],
        usual: usualExample,
      },
    ],
  },
);

const scheduleId = '019aa3f5-2b3c-7d4e-8f50-6a7b8c9d0e1f';

export const Schedule = Type.Object(
  {
    id: Uuid(),
    script_id: Uuid(),
    script_name: Type.String(),
    kind,
    cron: Nullable(cron),
    timezone,
    interval_seconds: Nullable(intervalSeconds),
    start_at: Nullable(startAt),
    end_at: Nullable(endAt),
    enabled: Type.Boolean(),
    catch_up: catchUp,
    max_lateness_seconds: maxLateness,
    overlap,
    params: Nullable(params),
    next_fire_at: Nullable(Time('The due time that it waits for.')),
    last_fire_at: Nullable(Time('The last due time that made a run.')),
    version: Type.Integer({ minimum: 1, description: 'Counts the changes; the `ETag`.' }),
    created_at: Time(),
    created_by: Type.String(),
    updated_at: Time(),
    updated_by: Type.String(),
  },
  {
    title: 'Schedule',
    additionalProperties: false,
    examples: [
      {
        id: scheduleId,
        script_id: examples.scriptId,
        script_name: 'Nightly report',
        kind: 'cron',
        cron: '30 2 * * *',
        timezone: 'Europe/Berlin',
        interval_seconds: null,
        start_at: null,
        end_at: null,
        enabled: true,
        catch_up: 'last',
        max_lateness_seconds: 3600,
        overlap: 'skip',
        params: { limit: 10 },
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
  Type.Object(
    {
      due_at: Time(),
      outcome: Type.Enum([...occurrenceOutcomes], {
        title: 'OccurrenceOutcome',
        description:
          '`fired` in time, `late` by up to a minute, or `caught_up` as `catch_up` says made a run; `skipped` and `missed` made none.',
      }),
      reason: Nullable(Type.String({ description: 'Why it made no run.' })),
      run_id: Nullable(Uuid()),
    },
    {
      title: 'Occurrence',
      additionalProperties: false,
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
