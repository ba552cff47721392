import { randomUUID } from 'node:crypto';
import type { LogChunk, LogItem, LogQuery } from '#domain/ports/run-logs.ts';
import { createTestDatabase } from '#infra/testing/database.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '../database.ts';
import { PostgresRunLogs } from './run-logs.ts';

let database: Database;
let drop: () => Promise<void>;
let logs: PostgresRunLogs;

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.serviceUrl, {
    connections: 4,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  logs = new PostgresRunLogs(database.pool);
});
afterAll(async () => {
  await database.close();
  await drop();
});

const time = '2026-11-21T02:31:00.000Z';

/** Returns a chunk with the lines `firstSeq` to `lastSeq`. Every third line is from stderr, and each line contains its
 *  number. */
function chunk(runId: string, firstSeq: number, lastSeq: number, padding = ''): LogChunk {
  const items: LogItem[] = [];
  for (let seq = firstSeq; seq <= lastSeq; seq += 1) {
    const stream = seq % 3 === 0 ? 'stderr' : 'stdout';
    items.push({ seq, time, stream, level: null, text: `Line ${seq}${padding}` });
  }
  const bytes = items.reduce((sum, item) => sum + item.text.length + 1, 0);
  return { runId, firstSeq, lastSeq, bytes, itemsJson: JSON.stringify(items) };
}

/** Stores a run's log with the lines 1–10 in chunks of 4, or with the given ranges. */
async function givenRun(
  ranges: [number, number][] = [
    [1, 4],
    [5, 8],
    [9, 10],
  ],
): Promise<string> {
  const runId = randomUUID();
  await logs.append(ranges.map(([first, last]) => chunk(runId, first, last)));
  return runId;
}

async function read(runId: string, query: Partial<LogQuery> = {}) {
  const page = await logs.read(runId, { fromSeq: 1, limit: 100, ...query });
  const seqs = page.items.map((item) =>
    item.to_seq === undefined ? item.seq : `${item.seq}–${item.to_seq}`,
  );
  return { seqs, nextSeq: page.nextSeq, more: page.more };
}

describe('storing log chunks', () => {
  test('preserves the text exactly', async () => {
    const runId = randomUUID();
    const text = 'quote " backslash \\ { } , NULL \u2400 \u{1f600} \u001b[31m';
    const itemsJson = JSON.stringify([{ seq: 1, time, stream: 'stdout', level: 'info', text }]);
    await logs.append([{ runId, firstSeq: 1, lastSeq: 1, bytes: 50, itemsJson }]);
    expect(await logs.readChunks(runId, 1, 10)).toEqual([
      { runId, firstSeq: 1, lastSeq: 1, bytes: 50, itemsJson },
    ]);
    const { items } = await logs.read(runId, { fromSeq: 1, limit: 10 });
    expect(items).toEqual([{ seq: 1, time, stream: 'stdout', level: 'info', text }]);
  });

  test('is idempotent, and keeps runs separate', async () => {
    const runId = await givenRun();
    const other = randomUUID();
    await logs.append([chunk(runId, 5, 8, ' again'), chunk(other, 1, 2)]);
    await logs.append([]);
    expect((await read(runId)).seqs).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect((await logs.read(runId, { fromSeq: 5, limit: 1 })).items[0]?.text).toBe('Line 5');
    expect((await read(other)).seqs).toEqual([1, 2]);
  });
});

describe('reading a log', () => {
  test('returns an empty page with a cursor if the run has no lines', async () => {
    expect(await read(randomUUID())).toEqual({ seqs: [], nextSeq: 1, more: false });
    expect(await read(randomUUID(), { fromEnd: true })).toEqual({
      seqs: [],
      nextSeq: 1,
      more: false,
    });
  });

  test('returns consecutive pages', async () => {
    const runId = await givenRun();
    expect(await read(runId, { limit: 6 })).toEqual({
      seqs: [1, 2, 3, 4, 5, 6],
      nextSeq: 7,
      more: true,
    });
    expect(await read(runId, { fromSeq: 7, limit: 4 })).toEqual({
      seqs: [7, 8, 9, 10],
      nextSeq: 11,
      more: false,
    });
    expect(await read(runId, { fromSeq: 11 })).toEqual({ seqs: [], nextSeq: 11, more: false });
  });

  test('scans until the page is full when lines are filtered by stream or text', async () => {
    const runId = await givenRun();
    expect(await read(runId, { stream: 'stderr', limit: 2 })).toEqual({
      seqs: [3, 6],
      nextSeq: 7,
      more: true,
    });
    expect((await read(runId, { contains: 'lINE 1' })).seqs).toEqual([1, 10]);
    expect((await read(runId, { contains: '%' })).seqs).toEqual([]);
  });

  test('returns no level for lines stored by earlier releases', async () => {
    const runId = randomUUID();
    const itemsJson = `[{"seq":1,"time":"${time}","stream":"stdout","text":"ERROR:root:x"}]`;
    await logs.append([{ runId, firstSeq: 1, lastSeq: 1, bytes: 13, itemsJson }]);
    const { items } = await logs.read(runId, { fromSeq: 1, limit: 1 });
    expect(items).toMatchObject([{ seq: 1, level: null }]);
    expect(await read(runId, { minLevel: 'debug' })).toMatchObject({ seqs: [] });
  });

  test('combines small chunks into one page', async () => {
    const ranges = Array.from({ length: 300 }, (_, n): [number, number] => [n + 1, n + 1]);
    const runId = await givenRun(ranges);
    expect((await read(runId, { limit: 200 })).seqs).toHaveLength(200);
    expect((await read(runId, { limit: 500 })).seqs).toHaveLength(300);
    expect((await read(runId, { limit: 200, fromEnd: true })).seqs.at(0)).toBe(101);
  });

  test('stops a long search early, and returns the position to continue from', async () => {
    const runId = randomUUID();
    const padding = 'x'.repeat(60_000);
    for (let n = 0; n < 40; n += 1) {
      const rows = Array.from({ length: 5 }, (_, m) => 5 * n + m + 1);
      await logs.append(rows.map((seq) => chunk(runId, seq, seq, padding)));
    }
    const first = await read(runId, { contains: 'Line 200' });
    expect(first).toMatchObject({ seqs: [], more: true });
    expect(await read(runId, { contains: 'Line 200', fromSeq: first.nextSeq })).toEqual({
      seqs: [200],
      nextSeq: 201,
      more: false,
    });
  });
});

describe('reading the end of a log', () => {
  test('returns the last lines in order', async () => {
    const runId = await givenRun();
    expect(await read(runId, { fromEnd: true, limit: 3 })).toEqual({
      seqs: [8, 9, 10],
      nextSeq: 11,
      more: true,
    });
    expect(await read(runId, { fromEnd: true, limit: 10 })).toEqual({
      seqs: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      nextSeq: 11,
      more: false,
    });
    expect((await read(runId, { fromEnd: true, stream: 'stderr', limit: 2 })).seqs).toEqual([6, 9]);
    expect((await read(runId, { fromEnd: true, fromSeq: 9 })).seqs).toEqual([9, 10]);
  });
});

describe('a log without its middle part', () => {
  const removed = async () => {
    const runId = await givenRun([
      [1, 2],
      [3, 4],
      [5, 6],
      [7, 8],
      [9, 10],
    ]);
    await logs.removeChunks(runId, 3, 6);
    await logs.removeChunks(runId, 3, 6);
    return runId;
  };

  test('shows the missing part as one system line', async () => {
    const runId = await removed();
    expect((await read(runId)).seqs).toEqual([1, 2, '3–6', 7, 8, 9, 10]);
    const { items } = await logs.read(runId, { fromSeq: 3, limit: 1 });
    expect(items).toEqual([
      {
        seq: 3,
        time,
        stream: 'system',
        level: null,
        text: '… 4 lines left out …',
        from_seq: 3,
        to_seq: 6,
      },
    ]);
  });

  test('is paged correctly at every position in the gap', async () => {
    const runId = await removed();
    expect(await read(runId, { limit: 3 })).toEqual({
      seqs: [1, 2, '3–6'],
      nextSeq: 7,
      more: true,
    });
    expect((await read(runId, { fromSeq: 5, limit: 2 })).seqs).toEqual(['5–6', 7]);
    expect((await read(runId, { fromSeq: 7 })).seqs).toEqual([7, 8, 9, 10]);
    expect((await read(runId, { fromEnd: true, limit: 5 })).seqs).toEqual(['3–6', 7, 8, 9, 10]);
    expect((await read(runId, { fromEnd: true, limit: 6 })).seqs).toEqual([2, '3–6', 7, 8, 9, 10]);
    expect((await read(runId, { fromEnd: true, fromSeq: 4 })).seqs).toEqual(['4–6', 7, 8, 9, 10]);
    expect((await read(runId, { stream: 'stdout' })).seqs).toEqual([1, 2, 7, 8, 10]);
    expect((await read(runId, { stream: 'system' })).seqs).toEqual(['3–6']);
  });

  test('shows a missing beginning as one system line', async () => {
    const runId = await givenRun([[5, 6]]);
    expect((await read(runId)).seqs).toEqual(['1–4', 5, 6]);
    expect((await read(runId, { fromEnd: true })).seqs).toEqual(['1–4', 5, 6]);
  });

  test('returns stored chunks unchanged, starting with the chunk that contains the requested line', async () => {
    const runId = await removed();
    const firsts = async (fromSeq: number) =>
      (await logs.readChunks(runId, fromSeq, 10)).map((each) => each.firstSeq);
    expect(await firsts(2)).toEqual([1, 7, 9]);
    expect(await firsts(4)).toEqual([7, 9]);
    expect(await firsts(10)).toEqual([9]);
    expect(await firsts(11)).toEqual([]);
  });
});
