import { wrongClocks } from '#infra/postgres/operations/clock-sessions.ts';
import { openTestPlatform, untilTrue, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { alarmsNow } from './alarms.ts';
import { DatabaseClock, whileClockIsRight } from './database-clock.ts';
import { createLogger } from './logger.ts';

const hourMs = 3_600_000;
let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());

/** Creates a scheduler's view of the database clock. The clock of the scheduler's machine is wrong by `offsetMs`. */
function schedulerWith(offsetMs: number) {
  const machine = { offsetMs };
  const clock = new DatabaseClock({
    database: platform.pool,
    url: platform.serviceUrl,
    own: { now: () => new Date(Date.now() + machine.offsetMs) },
    name: 'scheduler',
    maxDifferenceSeconds: 5,
    logger: createLogger('test', 'fatal'),
  });
  return { clock, machine };
}

async function databaseNow(): Promise<number> {
  const { rows } = await platform.pool.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  return rows[0]?.now.getTime() ?? 0;
}

test.each([
  { offsetMs: hourMs, words: '3600 s ahead of' },
  { offsetMs: -hourMs, words: '3600 s behind' },
])(
  'a process uses the database time even if the machine’s clock is $words the database clock',
  async (it) => {
    const { clock, machine } = schedulerWith(it.offsetMs);
    await clock.read();
    expect(Math.abs(clock.now().getTime() - (await databaseNow()))).toBeLessThan(1_000);
    expect(clock.problem).toContain(it.words);
    machine.offsetMs = 0;
    await clock.read();
    expect(clock.problem).toBeUndefined();
  },
);

test('a running process ignores jumps of the machine’s clock', async () => {
  const { clock, machine } = schedulerWith(0);
  await clock.read();
  machine.offsetMs = hourMs;
  expect(Math.abs(clock.now().getTime() - (await databaseNow()))).toBeLessThan(1_000);
});

test('a scheduler pauses while its machine’s clock is fast', async () => {
  const ahead = schedulerWith(hourMs);
  const right = schedulerWith(0);
  const served: string[] = [];
  const { signal } = new AbortController();
  const round = async (name: string, { clock }: typeof ahead) => {
    await clock.read();
    await whileClockIsRight(clock, () => Promise.resolve(void served.push(name)))(signal);
  };
  await round('ahead', ahead);
  await round('right', right);
  expect(served).toEqual(['right']);
  ahead.machine.offsetMs = 0;
  await round('ahead', ahead);
  expect(served).toEqual(['right', 'ahead']);
});

test('a process with a wrong clock raises an alarm until the clock is correct or the process has exited', async () => {
  const parts = {
    database: platform.pool,
    reads: platform.reads,
    clock: schedulerWith(0).clock,
    folder: undefined,
  };
  const { clock, machine } = schedulerWith(-hourMs);
  await clock.read();
  expect(await wrongClocks(platform.pool)).toEqual([
    expect.stringMatching(/^scheduler@\S+ 3600 s behind$/),
  ]);
  expect(await alarmsNow(parts)).toEqual([
    { name: 'clock_difference', detail: expect.stringContaining('3600 s behind the database') },
  ]);
  machine.offsetMs = 2_000;
  await clock.read();
  await untilTrue('the alarm is over', async () => (await alarmsNow(parts)).length === 0);
});
