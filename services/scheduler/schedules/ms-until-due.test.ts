import { createGroup, createSchedule, createScript } from '#domain/testing/samples.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { msUntilDue } from './ms-until-due.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
  await platform.accepted(createScript());
  await platform.accepted(createSchedule());
});
afterAll(() => platform.close());

/** Calls the function at the given time. @param served the time up to which all due times are settled */
function lookAt(served: string, time = served) {
  const clock = { now: () => new Date(`2026-01-01T${time}Z`) };
  return msUntilDue({ reads: platform.reads, clock }, new Date(`2026-01-01T${served}Z`));
}

describe('msUntilDue for a schedule that is due at one o’clock', () => {
  test('returns the time until the schedule is due', async () => {
    expect(await lookAt('00:59:58')).toBe(2_000);
    expect(await lookAt('00:59:59.990')).toBe(10);
  });

  test('returns 0 if the schedule is already due', async () => {
    expect(await lookAt('00:59:59.999', '01:00:00.001')).toBe(0);
  });

  test('returns Infinity if the due time is settled', async () => {
    expect(await lookAt('01:00:00')).toBe(Infinity);
  });
});
