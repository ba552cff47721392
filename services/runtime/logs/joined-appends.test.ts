import { describe, expect, test } from 'vitest';
import type { LogChunk } from '#domain/ports/run-logs.ts';
import { joinAppends } from './joined-appends.ts';

const chunk = (runId: string, size = 10): LogChunk => ({
  runId,
  firstSeq: 1,
  lastSeq: 1,
  bytes: 1,
  itemsJson: 'x'.repeat(size),
});

/** Creates a store whose calls complete when the test ends them. */
function given() {
  const calls: { runs: string[]; end: () => void; fail: (error: Error) => void }[] = [];
  const store = joinAppends({
    append: (chunks) =>
      new Promise((end, fail) => {
        calls.push({ runs: chunks.map((each) => each.runId), end, fail });
      }),
    removeChunks: () => Promise.resolve(),
  });
  return { calls, store };
}

describe('log appends from many runs', () => {
  test('are sent immediately at first, and in batches while calls are pending', async () => {
    const { calls, store } = given();
    const all = ['a', 'b', 'c', 'd', 'e'].map((runId) => store.append([chunk(runId)]));
    expect(calls.map((call) => call.runs)).toEqual([['a'], ['b']]);
    calls[0]?.end();
    await all[0];
    await Promise.resolve();
    expect(calls[2]?.runs).toEqual(['c', 'd', 'e']);
    calls[1]?.end();
    calls[2]?.end();
    await Promise.all(all);
  });

  test('are split into calls of limited size with at least one append each', async () => {
    const { calls, store } = given();
    const size = 700 * 1024;
    const all = ['a', 'b', 'c', 'd', 'e'].map((runId) => store.append([chunk(runId, 3 * size)]));
    for (let done = 0; done < 5; done += 1) {
      calls[done]?.end();
      await all[done];
      await Promise.resolve();
    }
    expect(calls.map((call) => call.runs)).toEqual([['a'], ['b'], ['c'], ['d'], ['e']]);
  });

  test('report a failure to all callers in the failed batch, and to no others', async () => {
    const { calls, store } = given();
    const failing = store.append([chunk('a')]);
    const fine = store.append([chunk('b')]);
    calls[0]?.fail(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    calls[1]?.end();
    await fine;
    const next = store.append([chunk('c')]);
    calls[2]?.end();
    await next;
  });
});
