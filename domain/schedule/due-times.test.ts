import { changesOfClocks } from '#domain/testing/due-times.ts';
import { year, yearOfDueTimes } from '#domain/testing/year-of-due-times.ts';
import { describe, expect, test } from 'vitest';
import { dueAfter } from './due-times.ts';
import { clockNote } from './local-time.ts';
import { definitionProblem, type ScheduleDefinition } from './schedule.ts';
import { zoneOf, type Zone } from './zone.ts';

const made = new Date('2026-01-01T00:00:07Z');

type Cron = Extract<ScheduleDefinition, { kind: 'cron' }>;
const others = {
  timezone: 'UTC',
  startAt: null,
  endAt: null,
  enabled: true,
  catchUp: 'last',
  maxLatenessSeconds: 3600,
  overlap: 'skip',
  paramsSha256: null,
} as const;

const byCron = (cron: string, changes: Partial<Cron> = {}): ScheduleDefinition => ({
  ...others,
  kind: 'cron',
  intervalSeconds: null,
  cron,
  ...changes,
});
const every = (intervalSeconds: number, startAt: string | null = null): ScheduleDefinition => ({
  ...others,
  kind: 'interval',
  cron: null,
  intervalSeconds,
  startAt,
});

function* dueTimes(definition: ScheduleDefinition, after: string, until: string) {
  let due = dueAfter(definition, made, new Date(after));
  while (due !== undefined && due <= new Date(until)) {
    yield due.toISOString().replace('.000', '');
    due = dueAfter(definition, made, due);
  }
}

/** Midnight on New Year's Day. */
function startOf(at: number, zone: Zone): number {
  const local = Date.UTC(at, 0, 1);
  return local - zone.offsetMs(local);
}

const isoOf = (atMs: number) => new Date(atMs).toISOString();

async function hexDigest(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const after = (definition: ScheduleDefinition, time: string) =>
  dueAfter(definition, made, new Date(time))?.toISOString();

test('a one-time schedule is due once, or never if it is disabled', () => {
  const once = { ...others, kind: 'once', cron: null, intervalSeconds: null } as const;
  const onceAt = '2026-12-24T17:00:00.000Z';
  const due = (after: string, enabled = true) =>
    dueAfter({ ...once, onceAt, enabled }, new Date(0), new Date(after))?.toISOString();
  expect(due('2026-12-24T16:59:59.999Z')).toBe(onceAt);
  expect(due(onceAt)).toBeUndefined();
  expect(due('2026-01-01T00:00:00.000Z', false)).toBeUndefined();
});

describe('the due times', () => {
  test.each(changesOfClocks)(
    'of $cron in $timezone after $after match those of other cron implementations',
    (one) => {
      const { cron, timezone, until, due } = one;
      expect([...dueTimes(byCron(cron, { timezone }), one.after, until)].join(' ')).toBe(due);
    },
  );

  test.each(changesOfClocks)(
    'of $cron in $timezone from any minute around $after match those of other cron implementations',
    (one) => {
      const { cron, timezone, until, due } = one;
      const expected = due.split(' ').filter(Boolean);
      const definition = byCron(cron, { timezone });
      const endMs = Date.parse(until);
      for (let ms = Date.parse(one.after); ms < endMs; ms += 17 * 60_000) {
        const next = expected.find((text) => Date.parse(text) > ms);
        if (next === undefined) break;
        expect(dueAfter(definition, made, new Date(ms))).toEqual(new Date(next));
      }
    },
  );

  test.each(yearOfDueTimes)(
    'of $cron in $timezone for a year match those of other cron implementations',
    async (one) => {
      const { cron, timezone, usualDays, sha256, changeDays } = one;
      const zone = zoneOf(timezone)!;
      const definition = byCron(cron, { timezone });
      const [start, end] = [year, year + 1].map((at) => startOf(at, zone)) as [number, number];
      const due = [...dueTimes(definition, isoOf(start - 1), isoOf(end - 1))];
      const isUsual = (at: string) => clockNote(zone, new Date(at)) === undefined;
      const usual = due.filter(isUsual);
      expect(due.filter((at) => !isUsual(at)).join(' ')).toBe(changeDays);
      expect(usual).toHaveLength(usualDays);
      expect(await hexDigest(usual.join('\n'))).toBe(sha256);
    },
  );

  test('around daylight saving changes differ from croniter only in the documented cases', () => {
    const others = yearOfDueTimes.filter(({ changeDays, croniter }) => changeDays !== croniter);
    expect(others.map(({ cron, timezone }) => `${cron} in ${timezone}`)).toEqual([
      '*/7 1-2 * * * in Europe/Berlin',
      '*/7 1-2 * * * in America/New_York',
      '*/7 1-2 * * * in Australia/Lord_Howe',
      '30 2 * * * in Europe/Berlin',
      '30 2 * * * in America/New_York',
      '15 0 * * * in America/Santiago',
      '30 1 * JAN,MAR-APR,OCT-NOV * in America/New_York',
      '30 1 * JAN,MAR-APR,OCT-NOV * in Australia/Lord_Howe',
      '20 10 2 * * * in Europe/Berlin',
      '20 10 2 * * * in America/New_York',
      '20 10 2 * * * in Australia/Lord_Howe',
    ]);
  });
});

describe('a schedule with a start and an end', () => {
  const window = { startAt: '2026-06-01T12:00:00Z', endAt: '2026-06-02T12:00:00Z' };

  test('includes its start and its end', () => {
    const noon = byCron('@daily', { cron: '0 12 * * *', ...window });
    expect([...dueTimes(noon, '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z')]).toEqual([
      '2026-06-01T12:00:00Z',
      '2026-06-02T12:00:00Z',
    ]);
  });

  test('is never due after its end or while disabled', () => {
    expect(after(byCron('* * * * *', window), '2026-06-02T12:00:00Z')).toBeUndefined();
    expect(after(byCron('* * * * *', { enabled: false }), '2026-01-01T00:00:00Z')).toBeUndefined();
  });
});

describe('an interval', () => {
  test('without a start date is counted from its creation', () => {
    expect(after(every(60), '2026-01-01T00:00:07Z')).toBe('2026-01-01T00:01:07.000Z');
    expect(after(every(60), '2026-01-01T00:01:07Z')).toBe('2026-01-01T00:02:07.000Z');
    expect(after(every(60), '2026-01-01T00:01:06.999Z')).toBe('2026-01-01T00:01:07.000Z');
    expect(after(every(60), '2025-01-01T00:00:00Z')).toBe('2026-01-01T00:01:07.000Z');
  });

  test('with a start date is first due on that date, and is then counted in elapsed time', () => {
    const start = '2026-03-29T00:30:00Z';
    expect(after(every(3600, start), '2026-01-01T00:00:00Z')).toBe('2026-03-29T00:30:00.000Z');
    expect(after(every(3600, start), start)).toBe('2026-03-29T01:30:00.000Z');
  });
});

describe('a schedule is invalid', () => {
  test.each([
    ['* * * *', /5 fields, or 6 .* has 4/],
    ['* * * * * * *', /5 fields, or 6 .* has 7/],
    ['', /has 0/],
    ['61 * * * *', /minute must be from 0 to 59; "61"/],
    ['* 24 * * *', /hour must be from 0 to 23/],
    ['* * 0 * *', /day of the month must be from 1 to 31/],
    ['* * * 13 *', /month must be from 1 to 12/],
    ['* * * * 8', /day of the week must be from 0 to 7/],
    ['60 * * * * *', /second must be from 0 to 59/],
    ['0 0 31 2 *', /never matches a date/],
    ['0 0 30 FEB *', /never matches a date/],
    ['*/0 * * * *', /step/],
    ['5-1 * * * *', /ends before it starts/],
    ['1-2-3 * * * *', /is not a valid/],
    ['*/5/5 * * * *', /is not a valid/],
    ['-5 * * * *', /is not a valid/],
    ['1.5 * * * *', /is not a valid/],
    [', * * * *', /is not a valid/],
    ['H * * * *', /is not a valid/],
    ['0 0 15W * *', /is not a valid/],
    ['0 0 * FOO *', /is not a valid/],
    ['0 0 * * FRI#6', /1 to 5/],
    ['0 0 * * L', /is not a valid/],
    ['@reboot', /Use one of @yearly/],
  ])('with the cron expression "%s"', (cron, detail) => {
    expect(definitionProblem(byCron(cron))).toEqual({
      part: 'cron',
      detail: expect.stringMatching(detail),
    });
  });

  test.each(['Mars/Olympus', '+01:00', '', 'Europe/Berlin '])(
    'with the time zone "%s"',
    (timezone) => {
      expect(definitionProblem(byCron('@daily', { timezone }))).toMatchObject({ part: 'timezone' });
    },
  );

  test('with an end before its start', () => {
    const window = { startAt: '2026-06-02T00:00:00Z', endAt: '2026-06-01T00:00:00Z' };
    expect(definitionProblem(byCron('@daily', window))).toMatchObject({ part: 'endAt' });
  });
});

describe('a valid schedule', () => {
  test.each([
    ['@hourly', '2026-01-01T01:00:00.000Z'],
    ['@Weekly', '2026-01-04T00:00:00.000Z'],
    ['  0   12 * * ? ', '2026-01-01T12:00:00.000Z'],
    ['0 0 * jan-mar mon,Fri', '2026-01-02T00:00:00.000Z'],
    ['0 0 * * 7', '2026-01-04T00:00:00.000Z'],
    ['0 0 * * FRI-7', '2026-01-02T00:00:00.000Z'],
    ['0 0 29 2 *', '2028-02-29T00:00:00.000Z'],
    ['*/10 * * * * *', '2026-01-01T00:00:10.000Z'],
    ['0 0 L,15 * *', '2026-01-15T00:00:00.000Z'],
    ['0 0 * * 5L', '2026-01-30T00:00:00.000Z'],
    ['0 0 * * MON#1', '2026-01-05T00:00:00.000Z'],
  ])('with the cron expression "%s" is next due at %s', (cron, due) => {
    expect(definitionProblem(byCron(cron, { timezone: 'utc' }))).toBeUndefined();
    expect(after(byCron(cron), '2026-01-01T00:00:00Z')).toBe(due);
  });
});
