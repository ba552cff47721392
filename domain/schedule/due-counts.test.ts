import { describe, expect, test } from 'vitest';
import { dueCounts, type CountedSchedule } from './due-counts.ts';
import { dueAfter } from './due-times.ts';
import type { ScheduleDefinition } from './schedule.ts';

const createdAt = new Date('2026-03-01T00:00:07Z');
const from = new Date('2026-03-28T22:20:00Z');
const hourMs = 3_600_000;
/** Five hours in the night in which the clocks change in Berlin. */
const ends = [1, 2, 3, 4, 5].map((hours) => new Date(from.getTime() + hours * hourMs));

const others = {
  timezone: 'Europe/Berlin',
  startAt: null,
  endAt: null,
  enabled: true,
  catchUp: 'last',
  maxLatenessSeconds: 3600,
  overlap: 'skip',
  paramsSha256: null,
} as const;
const byCron = (cron: string): ScheduleDefinition => ({
  ...others,
  kind: 'cron',
  cron,
  intervalSeconds: null,
});
const every = (intervalSeconds: number, changes = {}): ScheduleDefinition => ({
  ...others,
  kind: 'interval',
  cron: null,
  intervalSeconds,
  ...changes,
});

function counted(definition: ScheduleDefinition): CountedSchedule {
  const nextAt = dueAfter(definition, createdAt, new Date(from.getTime() - 1));
  if (nextAt === undefined) throw new Error('it is never due');
  return { definition, createdAt, nextAt };
}

/** Counts due times one by one, as a reference. */
function oneByOne({ definition, nextAt }: CountedSchedule): readonly number[] {
  const counts = ends.map(() => 0);
  for (let due: Date | undefined = nextAt; due; due = dueAfter(definition, createdAt, due)) {
    const moment: Date = due;
    const index = ends.findIndex((end) => moment < end);
    if (index < 0) break;
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}

describe('the count of due times', () => {
  test.each([
    byCron('*/10 * * * *'),
    byCron('59 * * * *'),
    byCron('*/20 7 * * * *'),
    byCron('@hourly'),
    byCron('7 1-2 * * *'),
    { ...byCron('*/7 * * * *'), endAt: '2026-03-29T01:10:00.000Z' },
    byCron('30 2 * * *'),
    byCron('0 3 * * *'),
    every(1),
    every(7),
    every(5400),
    every(600, { endAt: '2026-03-29T00:30:00.000Z' }),
    every(600, { startAt: '2026-03-28T23:25:00.000Z' }),
  ])(
    'equals the number of listed due times: $cron $intervalSeconds $startAt $endAt',
    (definition) => {
      const schedule = counted(definition);
      expect([...dueCounts([schedule], ends, 1000)]).toEqual(oneByOne(schedule));
    },
  );

  test('is computed only once for schedules with the same cron expression', () => {
    const often = counted(byCron('* * * * *'));
    const same = [often, often, counted(every(60))];
    expect([...dueCounts(same, ends, 300)]).toEqual([180, 180, 180, 180, 180]);
  });

  test('is computed only once for hours with the same due times', () => {
    const inUtc = counted({ ...byCron('* * * * *'), timezone: 'UTC' });
    expect([...dueCounts([inUtc], ends, 120)]).toEqual([60, 60, 60, 60, 60]);
  });

  test('is not computed beyond the maximum', () => {
    const many = [counted(byCron('* 0-23 * * *')), counted(every(1800))];
    expect([...dueCounts(many, ends, 130)]).toEqual([62, 62]);
  });
});
