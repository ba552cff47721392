import { createGroup, createSchedule, createScript } from '#domain/testing/samples.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { untilDue } from './until-due.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
  await platform.accepted(createScript());
  await platform.accepted(createSchedule());
});
afterAll(() => platform.close());

/** Looks at a time on the day of the platform's clock, once what was due at `served` is dealt with. */
function lookAt(served: string, time = served, signal = new AbortController().signal) {
  const clock = { now: () => new Date(`2026-01-01T${time}Z`) };
  return untilDue(
    { reads: platform.reads, clock },
    new Date(`2026-01-01T${served}Z`),
    1000,
    signal,
  );
}

describe('given a schedule that is due at one', () => {
  test('when that is further than the next look, then it is not waited for', async () => {
    expect(await lookAt('00:59:58')).toBe(false);
    expect(await lookAt('01:00:00')).toBe(false);
  });

  test('when it is near, or has just come, then it is', async () => {
    expect(await lookAt('00:59:59.990')).toBe(true);
    expect(await lookAt('00:59:59.999', '01:00:00.001')).toBe(true);
  });

  test('when the scheduler stops, then the wait ends', async () => {
    await expect(lookAt('00:59:59.500', '00:59:59.500', AbortSignal.abort())).rejects.toThrow();
  });
});
