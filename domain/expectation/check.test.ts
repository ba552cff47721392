import { runId } from '#domain/testing/ids.ts';
import type { Expectation } from '#domain/script/expectations.ts';
import { describe, expect, test } from 'vitest';
import { missedExpectations, type ExpectationFacts } from './check.ts';

const berlin = { kind: 'finish_by', cron: '0 7 * * *', timezone: 'Europe/Berlin' } as const;
const daily = { kind: 'success_within', seconds: 86_400 } as const;
const twice = { kind: 'longer_than', factor: 2 } as const;

function misses(expectation: Expectation, now: string, facts: Partial<ExpectationFacts>) {
  const nothing = { since: at('2026-01-01T00:00'), lastSuccessAt: null, running: [], p95Ms: null };
  return missedExpectations([expectation], { ...nothing, ...facts }, at(now));
}

function at(time: string): Date {
  return new Date(`${time}:00.000Z`);
}

describe('the expectation of a success by 07:00 in Berlin', () => {
  // 07:00 in Berlin is 06:00 UTC in winter.
  test.each([
    ['before the first deadline', '2026-01-01T05:59', null, false],
    ['at the first deadline without a success', '2026-01-01T06:00', null, true],
    ['after a success on the same morning', '2026-01-01T06:00', '2026-01-01T05:30', false],
    ['at the next deadline without another success', '2026-01-02T06:00', '2026-01-01T05:30', true],
    ['with a success exactly at the deadline', '2026-01-01T06:01', '2026-01-01T06:00', false],
    ['with a success after the deadline', '2026-01-01T09:00', '2026-01-01T08:00', false],
    ['after that success and the next deadline', '2026-01-02T06:00', '2026-01-01T08:00', false],
    ['after that success and two more deadlines', '2026-01-03T06:00', '2026-01-01T08:00', true],
  ])('is missed $0: $3', (_when, now, success, isMissed) => {
    const found = misses(berlin, now, { lastSuccessAt: success === null ? null : at(success) });
    expect(found.length > 0).toBe(isMissed);
  });

  test('reports the missed deadline in its time zone, even after a daylight saving change', () => {
    const lastSuccessAt = at('2026-03-28T05:00');
    expect(misses(berlin, '2026-03-29T04:59', { lastSuccessAt })).toEqual([]);
    expect(misses(berlin, '2026-03-29T05:00', { lastSuccessAt })).toEqual([
      {
        on: 'run_late',
        key: 'finish_by 0 7 * * * Europe/Berlin',
        runId: null,
        detail: 'No run succeeded by 2026-03-29 07:00:00+02:00.',
      },
    ]);
  });

  test('ignores deadlines before it was set', () => {
    const facts = { since: at('2026-01-05T12:00'), lastSuccessAt: at('2025-12-01T00:00') };
    expect(misses(berlin, '2026-01-06T05:59', facts)).toEqual([]);
    expect(misses(berlin, '2026-01-06T06:00', facts)).toHaveLength(1);
  });
});

describe('the expectation of at least one success a day', () => {
  test.each([
    ['2026-01-02T00:00', null, 0],
    ['2026-01-02T00:01', null, 1],
    ['2026-01-02T00:01', '2026-01-01T12:00', 0],
    ['2026-01-02T12:01', '2026-01-01T12:00', 1],
    ['2026-01-02T00:00', '2025-06-01T00:00', 0],
  ])('at $0, with the last success at $1, has this number of misses: $2', (now, success, times) => {
    const lastSuccessAt = success === null ? null : at(success);
    expect(misses(daily, now, { lastSuccessAt })).toHaveLength(times);
  });

  test('reports the time of the last success', () => {
    const [one] = misses(daily, '2026-01-03T00:00', { lastSuccessAt: at('2026-01-01T12:00') });
    expect(one?.detail).toBe(
      'No run has succeeded for 1 d. Last success: 2026-01-01 12:00:00 UTC.',
    );
  });
});

describe('a run expected to take at most twice the p95', () => {
  const running = [
    { runId: runId(1), startedAt: at('2026-01-01T00:00') },
    { runId: runId(2), startedAt: at('2026-01-01T00:09') },
  ];

  test('is reported if it takes longer', () => {
    expect(misses(twice, '2026-01-01T00:10', { running, p95Ms: 299_000 })).toEqual([
      {
        on: 'run_too_long',
        key: 'longer_than 2',
        runId: runId(1),
        detail: 'The run takes longer than 2 times the usual duration (p95: 299 s).',
      },
    ]);
    expect(misses(twice, '2026-01-01T00:10', { running, p95Ms: 300_000 })).toEqual([]);
  });

  test('is not reported if there are no duration statistics', () => {
    expect(misses(twice, '2026-02-01T00:00', { running, p95Ms: null })).toEqual([]);
  });
});
