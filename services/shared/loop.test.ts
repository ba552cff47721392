import { describe, expect, test, vi } from 'vitest';
import { startLoop, type LoopOptions } from './loop.ts';

const NEVER_MS = 1_000_000;
const quiet = { error: vi.fn() };

/** A duty whose rounds the test waits for. */
function counted(answer: (round: number) => ReturnType<LoopOptions['runOnce']>): {
  runOnce: () => ReturnType<LoopOptions['runOnce']>;
  round: (wanted: number) => Promise<void>;
  rounds: () => number;
} {
  let rounds = 0;
  const waiting: { wanted: number; resolve: () => void }[] = [];
  return {
    async runOnce() {
      rounds += 1;
      for (const { wanted, resolve } of waiting) if (rounds >= wanted) resolve();
      return answer(rounds);
    },
    round: (wanted) =>
      new Promise((resolve) => {
        if (rounds >= wanted) resolve();
        else waiting.push({ wanted, resolve });
      }),
    rounds: () => rounds,
  };
}

describe('given a loop', () => {
  test('when it starts, then its first round starts at once, and waking makes the next', async () => {
    const duty = counted(async () => undefined);
    const loop = startLoop({ name: 'duty', everyMs: NEVER_MS, logger: quiet, ...duty });
    await duty.round(1);
    loop.wake();
    await duty.round(2);
    await loop.stop();
  });

  test('when it is woken during a round, then one more round follows', async () => {
    let finish: () => void = () => undefined;
    const first = new Promise<void>((resolve) => (finish = resolve));
    const duty = counted((round) => (round === 1 ? first : Promise.resolve()));
    const loop = startLoop({ name: 'duty', everyMs: NEVER_MS, logger: quiet, ...duty });
    await duty.round(1);
    loop.wake();
    loop.wake();
    finish();
    await duty.round(2);
    await loop.stop();
    expect(duty.rounds()).toBe(2);
  });

  test('when it gathers, then however often it is woken meanwhile, one round follows', async () => {
    vi.useFakeTimers();
    const duty = counted(async () => undefined);
    const loop = startLoop({
      name: 'duty',
      everyMs: NEVER_MS,
      gatherMs: 20,
      logger: quiet,
      ...duty,
    });
    await duty.round(1);
    loop.wake();
    await vi.advanceTimersByTimeAsync(19);
    loop.wake();
    expect(duty.rounds()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(duty.rounds()).toBe(2);
    await vi.advanceTimersByTimeAsync(NEVER_MS - 1);
    expect(duty.rounds()).toBe(2);
    await loop.stop();
    vi.useRealTimers();
  });

  test('when its rounds are to be apart, then one alone comes soon, and those that follow later', async () => {
    vi.useFakeTimers();
    const duty = counted(async () => undefined);
    const loop = startLoop({
      name: 'duty',
      everyMs: NEVER_MS,
      gatherMs: 20,
      apartMs: 100,
      logger: quiet,
      ...duty,
    });
    await duty.round(1);
    await vi.advanceTimersByTimeAsync(500);
    loop.wake();
    await vi.advanceTimersByTimeAsync(20);
    expect(duty.rounds()).toBe(2);
    loop.wake();
    await vi.advanceTimersByTimeAsync(99);
    expect(duty.rounds()).toBe(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(duty.rounds()).toBe(3);
    await loop.stop();
    vi.useRealTimers();
  });

  test('when there is more to do, then the next round does not wait', async () => {
    const duty = counted(async (round) => round < 5);
    const loop = startLoop({ name: 'duty', everyMs: NEVER_MS, logger: quiet, ...duty });
    await duty.round(5);
    await loop.stop();
    expect(duty.rounds()).toBe(5);
  });

  test('when something is to be done sooner, then the next round is then, or when it is woken', async () => {
    vi.useFakeTimers();
    const duty = counted(async (round) => (round < 3 ? { inMs: 80 } : undefined));
    const loop = startLoop({
      name: 'duty',
      everyMs: NEVER_MS,
      gatherMs: 50,
      logger: quiet,
      ...duty,
    });
    await duty.round(1);
    await vi.advanceTimersByTimeAsync(79);
    expect(duty.rounds()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(duty.rounds()).toBe(2);
    loop.wake();
    await vi.advanceTimersByTimeAsync(50);
    expect(duty.rounds()).toBe(3);
    await vi.advanceTimersByTimeAsync(NEVER_MS - 1);
    expect(duty.rounds()).toBe(3);
    await loop.stop();
    vi.useRealTimers();
  });

  test('when a round fails, then that is logged and it is tried again', async () => {
    const error = vi.fn();
    const broken = new Error('broken');
    const duty = counted(async (round) => {
      if (round === 1) throw broken;
    });
    const loop = startLoop({ name: 'duty', everyMs: NEVER_MS, logger: { error }, ...duty });
    await duty.round(2);
    await loop.stop();
    expect(error.mock.calls).toEqual([
      [{ loop: 'duty', failures: 1, error: broken }, 'background task failed'],
    ]);
  });

  test('when it is stopped twice in a round, then both wait for it, and the round is told', async () => {
    let told = false;
    const runOnce = (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          told = true;
          setImmediate(resolve);
        });
      });
    const loop = startLoop({ name: 'duty', everyMs: 1, logger: quiet, runOnce });
    await Promise.all([loop.stop(), loop.stop()]);
    await loop.stop();
    expect(told).toBe(true);
  });
});
