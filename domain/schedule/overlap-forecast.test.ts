import { expect, test } from 'vitest';
import { overlapAt, forecastOverlap } from './overlap-forecast.ts';

const due = new Date('2026-11-21T02:10:00Z');
const minutesBefore = (minutes: number) => new Date(due.getTime() - minutes * 60_000);
const usual = { p50_ms: 5 * 60_000, p95_ms: 20 * 60_000 };

test.each([
  [1, 'likely'],
  [5, 'possible'],
  [19, 'possible'],
])(
  'an overlap is forecast as $1 if a run started $0 min before the due time',
  (minutes, forecast) => {
    expect(overlapAt(minutesBefore(minutes), due, usual)).toBe(forecast);
  },
);

test.each([20, 60])(
  'no overlap is forecast with a run that started %i min before the due time',
  (minutes) => {
    expect(overlapAt(minutesBefore(minutes), due, usual)).toBeUndefined();
  },
);

test.each([
  [4, 3, 'likely'],
  [12, 6, 'possible'],
  [60, 30, 'possible'],
])(
  'an overlap is forecast as $2 if a run started $0 min before the due time and is still active $1 min before that time',
  (...args) => {
    const [began, now, forecast] = args;
    expect(forecastOverlap(minutesBefore(began), minutesBefore(now), due, usual)).toBe(forecast);
  },
);

test('no overlap is forecast with an active run that has exceeded the p95 and will probably end in time', () => {
  const started = minutesBefore(25);
  expect(forecastOverlap(started, minutesBefore(10), due, usual)).toBeUndefined();
});

test('overlap with an active run without duration statistics is forecast as possible', () => {
  expect(forecastOverlap(minutesBefore(9), minutesBefore(8), due, undefined)).toBe('possible');
});

test('no overlap is forecast without a previous run or without duration statistics', () => {
  expect(overlapAt(undefined, due, usual)).toBeUndefined();
  expect(overlapAt(minutesBefore(1), due, undefined)).toBeUndefined();
});
