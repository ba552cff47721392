import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FairQueue, WaitedTooLong } from './fair-queue.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Creates tasks that run until the test ends them, and records the order in which they start. */
function workshop(queue: FairQueue) {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const order = (group: string, name: string): Promise<string> =>
    queue.run(group, () => {
      started.push(name);
      const { promise, resolve } = Promise.withResolvers<string>();
      ends.set(name, () => resolve(name));
      return promise;
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { started, order, end };
}

describe('a fair queue', () => {
  test('keeps one of several slots free for other groups', async () => {
    const { started, order } = workshop(new FairQueue({ places: 3, maxWaitMs: 1_000 }));
    for (const name of ['a1', 'a2', 'a3', 'a4']) void order('a', name).catch(() => undefined);
    void order('b', 'b1');
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toEqual(['a1', 'a2', 'b1']);
  });

  test('lets groups take turns, regardless of their queue lengths', async () => {
    const queue = new FairQueue({ places: 1, maxWaitMs: 1_000 });
    const { started, order, end } = workshop(queue);
    for (const name of ['a1', 'a2', 'a3', 'a4']) void order('a', name).catch(() => undefined);
    for (const name of ['b1', 'b2']) void order('b', name).catch(() => undefined);
    void order('c', 'c1');
    expect(queue.length).toBe(6);
    await vi.advanceTimersByTimeAsync(0);
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3']) await end(name);
    expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  test('rejects tasks that waited too long, and runs the others', async () => {
    const queue = new FairQueue({ places: 1, maxWaitMs: 1_000 });
    const { started, order, end } = workshop(queue);
    void order('a', 'first');
    const late = order('a', 'late');
    const refused = expect(late).rejects.toThrow(WaitedTooLong);
    await vi.advanceTimersByTimeAsync(999);
    expect(queue.length).toBe(1);
    void order('a', 'next');
    await vi.advanceTimersByTimeAsync(1);
    await refused;
    await end('first');
    expect(started).toEqual(['first', 'next']);
    expect(queue.length).toBe(0);
  });

  test('frees the slot when a task fails', async () => {
    const queue = new FairQueue({ places: 1, maxWaitMs: 1_000 });
    const failure = queue.run('a', () => Promise.reject(new Error('broken')));
    await expect(failure).rejects.toThrow('broken');
    expect(await queue.run('b', () => Promise.resolve('served'))).toBe('served');
  });

  test('counts abandoned tasks against their group until they end', async () => {
    const queue = new FairQueue({ places: 2, maxWaitMs: 1_000 });
    const { started, order, end } = workshop(queue);
    const ended = Promise.withResolvers<void>();
    await queue.run('a', (keepPlace) => Promise.resolve(keepPlace(ended.promise)));
    expect(queue.kept).toBe(1);
    for (const [group, name] of [
      ['a', 'a1'],
      ['b', 'b1'],
      ['c', 'c1'],
    ] as const)
      void order(group, name);
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toEqual(['b1', 'c1']);
    await end('b1');
    expect(started).toEqual(['b1', 'c1']);
    ended.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect([started, queue.kept]).toEqual([['b1', 'c1', 'a1'], 0]);
  });
});
