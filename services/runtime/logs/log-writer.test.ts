import fc from 'fast-check';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { LogLine } from '#services/shared/line-splitter.ts';
import { LogWriter } from './log-writer.ts';
import { itemsOf, ManualTimers, MemoryStore } from './testing/memory-store.ts';

const clock = { now: () => new Date('2026-11-21T02:31:00.000Z') };
const line = (text: string): LogLine => ({ stream: 'stdout', text });
const lines = (count: number, length: number): LogLine[] =>
  Array.from({ length: count }, () => line('x'.repeat(length)));

function given(limitBytes: number | null = null) {
  const store = new MemoryStore();
  const timers = new ManualTimers();
  const retries: number[] = [];
  const abort = new AbortController();
  const writer = new LogWriter({
    runId: 'r1',
    limitBytes,
    store,
    clock,
    timers,
    signal: abort.signal,
    onRetry: (_error, attempt) => retries.push(attempt),
  });
  return { store, timers, retries, abort, writer };
}

describe('a log writer', () => {
  test('stores the first line without delay', async () => {
    const { writer, store, timers } = given();
    await writer.write([line('hello')]);
    expect(store.appends).toHaveLength(1);
    await setImmediate();
    expect(timers.waiting.size).toBe(0);
    expect(store.stored).toEqual([
      {
        runId: 'r1',
        firstSeq: 1,
        lastSeq: 1,
        bytes: 6,
        itemsJson:
          '[{"seq":1,"time":"2026-11-21T02:31:00.000Z","stream":"stdout","level":null,"text":"hello"}]',
      },
    ]);
  });

  test('derives the level of each line once, when the line is stored', async () => {
    const { writer, store } = given();
    await writer.write([line('hello'), { stream: 'stderr', text: 'WARNING:root:disk is full' }]);
    await writer.close();
    expect(store.items).toMatchObject([{ level: null }, { level: 'warning' }]);
  });

  test('batches later lines', async () => {
    const { writer, store, timers } = given();
    await writer.write([line('first')]);
    await setImmediate();
    await writer.write([line('second')]);
    await writer.write([{ stream: 'stderr', text: 'third' }]);
    expect(store.appends).toHaveLength(1);
    expect(timers.delaysMs).toEqual([15]);
    timers.fire();
    await setImmediate();
    expect(store.appends[1]?.map((chunk) => [chunk.firstSeq, chunk.lastSeq])).toEqual([[2, 3]]);
  });

  test('does not delay chunks of 64 KiB', async () => {
    const { writer, store } = given();
    await writer.write([line('first')]);
    await setImmediate();
    await writer.write(lines(70, 1000));
    expect(store.appends).toHaveLength(2);
  });

  test('stores and counts all lines on close', async () => {
    const { writer, store, timers } = given();
    void writer.write(lines(10, 9));
    void writer.write([line('é')]);
    expect(await writer.close()).toEqual({ lines: 11, bytes: 103, truncated: false });
    expect(await writer.close()).toEqual({ lines: 11, bytes: 103, truncated: false });
    expect(store.items).toHaveLength(11);
    expect(timers.waiting.size).toBe(0);
    await expect(writer.write([line('late')])).rejects.toThrow('closed');
  });

  test('stores nothing on close if nothing was written', async () => {
    const { writer, store } = given();
    expect(await writer.close()).toEqual({ lines: 0, bytes: 0, truncated: false });
    expect(store.appends).toEqual([]);
  });
});

describe('an unavailable store', () => {
  test('receives all lines once and in order after it recovers', async () => {
    const { writer, store, timers, retries } = given();
    store.fail = 'before';
    await writer.write([line('first')]);
    for (let round = 0; round < 5; round += 1) {
      await setImmediate();
      await writer.write([line(`line ${round}`)]);
      timers.fire();
    }
    expect(store.items).toEqual([]);
    store.fail = 'after';
    await setImmediate();
    timers.fire();
    await setImmediate();
    store.fail = 'never';
    await timers.until(writer.close());
    expect(store.items.map((item) => item.seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(store.stored.flatMap(itemsOf).map((item) => item.seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(retries.slice(0, 3)).toEqual([1, 2, 3]);
  });

  test('blocks writes at the buffer limit until there is space', async () => {
    const { writer, store, timers } = given();
    store.fail = 'before';
    let written = 0;
    const reader = (async () => {
      for (; written < 100; written += 1) await writer.write(lines(64, 1000));
    })();
    for (let round = 0; round < 50; round += 1) await setImmediate();
    expect(written).toBeGreaterThan(5);
    expect(written).toBeLessThan(25);
    store.fail = 'never';
    await timers.until(reader);
    await timers.until(writer.close());
    expect(store.items).toHaveLength(6400);
  });

  test('no longer blocks writes after the signal aborts, and the abort reason is thrown on close', async () => {
    const { writer, store, timers, abort } = given();
    store.fail = 'before';
    const blocked = writer.write(lines(2000, 1000));
    abort.abort(new Error('the lease is lost'));
    await timers.until(blocked);
    await expect(timers.until(writer.close())).rejects.toThrow('the lease is lost');
    expect(timers.waiting.size).toBe(0);
  });
});

describe('a log limit', () => {
  const limitBytes = 16_000;

  test('keeps a complete log of exactly the maximum size', async () => {
    const { writer, store } = given(limitBytes);
    await writer.write(lines(160, 99));
    expect(await writer.close()).toEqual({ lines: 160, bytes: 16_000, truncated: false });
    expect(store.items).toHaveLength(160);
  });

  test('keeps the first and last parts of a longer log, each up to half of the limit', async () => {
    const { writer, store, timers } = given(limitBytes);
    for (let n = 0; n < 100; n += 1) await timers.until(writer.write(lines(10, 99)));
    expect(await writer.close()).toEqual({ lines: 1000, bytes: 100_000, truncated: true });
    const kept = store.items.map((item) => item.seq);
    const gapAt = kept.findIndex((seq, index) => seq !== index + 1);
    expect(gapAt).toBe(80);
    expect(kept.at(-1)).toBe(1000);
    expect(kept.length).toBeGreaterThan(140);
    expect(kept.length).toBeLessThanOrEqual(160);
  });

  test('keeps the first and the newest lines of a log of any length', async () => {
    const { writer, store, timers } = given(limitBytes);
    for (let n = 1; n <= 60; n += 1) {
      await timers.until(writer.write(lines(10, 99)));
      // Simulates a crash at this point: nothing more is written or removed.
      const kept = store.items.map((item) => item.seq);
      const head = kept.filter((seq, index) => seq === index + 1);
      expect(head.length).toBeGreaterThanOrEqual(Math.min(80, kept.at(-1) ?? 0));
      const tail = kept.slice(head.length);
      expect(tail).toEqual(tail.map((_, index) => (tail[0] ?? 0) + index));
    }
    await timers.until(writer.close());
  });
});

describe('any sequence of log writes', () => {
  const step = fc.record({
    lengths: fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 30 }),
    fire: fc.boolean(),
    fail: fc.constantFrom('never', 'never', 'before', 'after'),
  });

  test('produces consecutive line numbers, keeps the order, and respects the limits', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 30 }),
        fc.integer({ min: 0, max: 8_000 }),
        async (steps, limitBytes) => {
          const { writer, store, timers } = given(limitBytes);
          const texts: string[] = [];
          for (const { lengths, fire, fail } of steps) {
            store.fail = fail;
            const added = lengths.map((length, n) => `${texts.length + n} `.padEnd(length, 'x'));
            texts.push(...added);
            void writer.write(added.map(line));
            if (fire) timers.fire();
            await setImmediate();
          }
          store.fail = 'never';
          const totals = await timers.until(writer.close());

          const seen = store.stored.flatMap(itemsOf);
          expect(seen.map((item) => item.seq)).toEqual(texts.map((_, index) => index + 1));
          expect(seen.map((item) => item.text)).toEqual(texts);

          const sizes = texts.map((text) => text.length + 1);
          const bytes = sizes.reduce((sum, size) => sum + size, 0);
          expect(totals).toEqual({ lines: texts.length, bytes, truncated: store.bytes < bytes });
          const largest = Math.max(0, ...store.stored.map((chunk) => chunk.bytes));
          // The newest chunk is always kept, even if one of its lines is large relative to the limit.
          const excess = largest * 4 <= limitBytes ? largest : largest * 2;
          expect(store.maxBytes).toBeLessThanOrEqual(limitBytes + excess);
          if (bytes <= limitBytes) expect(store.bytes).toBe(bytes);

          const kept = store.items;
          const headLines = firstHalf(sizes, limitBytes);
          expect(kept.slice(0, headLines).map((item) => item.seq)).toEqual(
            texts.slice(0, headLines).map((_, index) => index + 1),
          );
          const tail = kept.slice(headLines).map((item) => item.seq);
          expect(tail).toEqual(tail.map((_, index) => texts.length - tail.length + index + 1));
          expect(store.bytes).toBeGreaterThanOrEqual(
            Math.min(bytes, limitBytes * (1 - 1 / 32) - largest),
          );
        },
      ),
      { numRuns: 150 },
    );
  });
});

/** Returns the number of lines that fit in the first half of the limit. */
function firstHalf(sizes: readonly number[], limitBytes: number): number {
  let sum = 0;
  const end = sizes.findIndex((size) => (sum += size) > limitBytes / 2);
  return end === -1 ? sizes.length : end;
}
