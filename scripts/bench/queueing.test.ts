import { describe, expect, test } from 'vitest';
import { randomFrom } from '#services/minimal/testing/replica-chaos.ts';
import { arrivals, exponential, simulate, type Job, type Step } from './queueing.ts';

const many = 50_000;
const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const inSlot = (...steps: readonly Step[]): readonly Step[] => [
  { kind: 'acquire' },
  ...steps,
  { kind: 'release' },
];

/** Returns jobs with Poisson arrivals and exponentially distributed step times. */
function randomJobs(
  perSecond: number,
  meanMs: number,
  stepsOf: (ms: number) => readonly Step[],
): readonly Job[] {
  const random = randomFrom(1);
  return arrivals(many, perSecond, random).map((arrivesAtMs) => ({
    arrivesAtMs,
    steps: stepsOf(exponential(meanMs, random)),
  }));
}

describe('the simulation of jobs that wait for slots', () => {
  test('increases each wait by the same amount if jobs arrive faster than they are served (D/D/1)', () => {
    const jobs = arrivals(50, 100).map((arrivesAtMs) => ({
      arrivesAtMs,
      steps: inSlot({ kind: 'delay', ms: 12 }),
    }));

    const times = simulate({ slots: 1, processors: 1, jobs });

    times.forEach(({ queuedAtMs, startedAtMs, endedAtMs }, index) => {
      expect(startedAtMs - queuedAtMs).toBeCloseTo(2 * index, 6);
      expect(endedAtMs - startedAtMs).toBeCloseTo(12, 6);
    });
  });

  test.each([
    { slots: 1, perSecond: 50 },
    { slots: 3, perSecond: 180 },
    { slots: 8, perSecond: 520 },
  ])('matches the Erlang C formula for M/M/$slots with $perSecond arrivals/s', (system) => {
    const { slots, perSecond } = system;
    const meanMs = 10;
    const jobs = randomJobs(perSecond, meanMs, (ms) => inSlot({ kind: 'delay', ms }));

    const times = simulate({ slots, processors: 1, jobs });

    const waitMs = mean(times.map((one) => one.startedAtMs - one.queuedAtMs));
    const load = (perSecond * meanMs) / 1000;
    const expectedMs = (erlangC(slots, load) * meanMs) / (slots - load);
    expect(waitMs / expectedMs).toBeGreaterThan(0.95);
    expect(waitMs / expectedMs).toBeLessThan(1.05);
  });
});

describe('the simulation of jobs that share processors', () => {
  test('gives a mean time of 1 / (service rate - arrival rate) for a shared processor (M/M/1)', () => {
    const jobs = randomJobs(70, 10, (ms) => [{ kind: 'work', ms }]);

    const times = simulate({ slots: 0, processors: 1, jobs });

    const spentMs = mean(times.map(({ doneAtMs }, index) => doneAtMs - jobs[index]!.arrivesAtMs));
    expect(spentMs / (1000 / (100 - 70))).toBeGreaterThan(0.95);
    expect(spentMs / (1000 / (100 - 70))).toBeLessThan(1.05);
  });

  test('makes three jobs on two processors take 1.5 times as long', () => {
    const jobs = [0, 0, 0].map((arrivesAtMs) => ({
      arrivesAtMs,
      steps: [{ kind: 'work', ms: 10 }] as const,
    }));

    const times = simulate({ slots: 0, processors: 2, jobs });

    for (const { doneAtMs } of times) expect(doneAtMs).toBeCloseTo(15, 6);
  });

  test('lets a job use at most one processor, and delays use none', () => {
    const jobs = [
      { arrivesAtMs: 0, steps: [{ kind: 'work', ms: 10 }] as const },
      { arrivesAtMs: 0, steps: [{ kind: 'delay', ms: 30 }] as const },
    ];

    const times = simulate({ slots: 0, processors: 4, jobs });

    expect(times.map(({ doneAtMs }) => doneAtMs)).toEqual([10, 30]);
  });
});

test('the arrival times depend only on the seed', () => {
  const of = (seed: number) => arrivals(5, 10, randomFrom(seed));

  expect(of(7)).toEqual(of(7));
  expect(of(7)).not.toEqual(of(8));
});

/** Returns the probability that a job must wait (Erlang C formula).
 *  @param load arrival rate × mean service time */
function erlangC(servers: number, load: number): number {
  let term = 1;
  let sum = 0;
  for (let count = 0; count < servers; count += 1) {
    sum += term;
    term *= load / (count + 1);
  }
  const all = (term * servers) / (servers - load);
  return all / (sum + all);
}
