import { describe, expect, test } from 'vitest';
import type { LogLine } from '#lib/api/types.ts';
import { LogWindow, chunkLines } from './log-window.ts';

function line(seq: number, more: Partial<LogLine> = {}): LogLine {
  return {
    seq,
    time: '2026-11-21T02:31:00.000Z',
    stream: 'stdout',
    level: null,
    text: `line ${seq}`,
    ...more,
  };
}

function lines(from: number, to: number): LogLine[] {
  return Array.from({ length: to - from + 1 }, (_, index) => line(from + index));
}

function texts(window: LogWindow, first: number, count: number): (string | undefined)[] {
  return window.rows(first, count).map((row) => row.line?.text);
}

describe('a log of a million lines', () => {
  test('has placeholder rows for lines that are not loaded yet', () => {
    const window = new LogWindow();
    window.put(lines(999_801, 1_000_000));
    expect(window.rowCount).toBe(1_000_000);
    expect(texts(window, 999_998, 10)).toEqual(['line 999999', 'line 1000000']);
    expect(window.missing(500_000, 30)).toEqual([500_001]);
    expect(window.missing(399, 2)).toEqual([201, 401]);
  });

  test('keeps only the most recently loaded chunks in memory', () => {
    const window = new LogWindow(3);
    for (let from = 1; from < 1_000_000; from += chunkLines) {
      window.put(lines(from, from + chunkLines - 1));
    }
    expect(window.missing(0, 1)).toEqual([1]);
    expect(window.missing(1_000_000 - 3 * chunkLines, 3 * chunkLines)).toEqual([]);
    expect(window.missing(1_000_000 - 3 * chunkLines - 1, 1)).toEqual([999_201]);
  });
});

describe('lines that arrive twice or out of order', () => {
  test('have one row each, in the order of their numbers', () => {
    const window = new LogWindow();
    window.put([line(3), line(1), line(3), line(2)]);
    expect(texts(window, 0, 10)).toEqual(['line 1', 'line 2', 'line 3']);
  });
});

describe('a truncated log', () => {
  test.each([
    ['the first omitted line', 101],
    ['the last omitted line', 900],
  ])('shows the omitted middle as one row if its marker has the number of %s', (_, seq) => {
    const window = new LogWindow();
    window.put([...lines(1, 100), line(seq, { from_seq: 101, to_seq: 900 }), ...lines(901, 1000)]);
    expect(window.rowCount).toBe(201);
    expect(texts(window, 99, 3)).toEqual(['line 100', `line ${seq}`, 'line 901']);
    expect(window.seqAt(101)).toBe(901);
    expect(window.rowOf(901)).toBe(101);
    expect(window.rowOf(1000)).toBe(200);
  });

  test('has no rows for missing lines, and does not request them again', () => {
    const window = new LogWindow();
    window.put(lines(801, 1000));
    window.putPage(201, lines(801, 1000));
    expect(window.rowCount).toBe(400);
    expect(window.missing(0, 400)).toEqual([1]);
  });

  test('merges adjacent gaps', () => {
    const window = new LogWindow();
    window.putPage(1, [line(11)]);
    window.putPage(1, [line(6), line(11)]);
    window.putPage(12, [line(20)]);
    expect(window.rowCount).toBe(2);
    expect(window.rows(0, 9).map((row) => row.seq)).toEqual([11, 20]);
  });
});

test('an empty log has no rows and nothing to load', () => {
  const window = new LogWindow();
  expect(window.rowCount).toBe(0);
  expect(window.rows(0, 10)).toEqual([]);
  expect(window.missing(0, 10)).toEqual([]);
});
