import { describe, expect, test, vi } from 'vitest';
import { startLoop, type LoopOptions } from './loop.ts';

const NEVER_MS = 1_000_000;
const quiet = { error: vi.fn() };

/** Returns a `runOnce` function whose rounds a test can await. */
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

describe('a loop', () => {
  test('runs its first round immediately, and the next round after a wake-up', async () => {
    const duty = counted(async () => undefined);
    const loop = startLoop({ name: 'duty', everyMs: NEVER_MS, logger: quiet, ...duty });
    await duty.round(1);
    loop.wake();
    await duty.round(2);
    await loop.stop();
  });

  test('runs one more round after several wake-ups during a round', async () => {
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

  test('with gatherMs, coalesces wake-ups into one round', async () => {
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

  test('with apartMs, delays frequent rounds but not a single round', async () => {
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

  test('runs the next round immediately if more work remains', async () => {
    const duty = counted(async (round) => round < 5);
    const loop = startLoop({ name: 'duty', everyMs: NEVER_MS, logger: quiet, ...duty });
    await duty.round(5);
    await loop.stop();
    expect(duty.rounds()).toBe(5);
  });

  test('runs the next round after a requested shorter time or after a wake-up', async () => {
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

  test('logs a failed round and retries it', async () => {
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

  test('aborts the current round when stopped, and two concurrent stops wait for the round', async () => {
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
