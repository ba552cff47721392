import { expect, test } from 'vitest';
import type { RunSpan } from '#lib/api/types.ts';
import { spanRows, withSpan } from './span-rows.ts';

const at = (ms: number) => new Date(ms).toISOString();
const span = (id: string, parent: string | null, from: number, to: number | null): RunSpan => ({
  span_id: id,
  parent_id: parent,
  name: id,
  kind: parent === null ? 'platform' : 'script',
  started_at: at(from),
  ended_at: to === null ? null : at(to),
  status: to === null ? 'running' : 'ok',
  attributes: {},
});

test('each span is placed above its children, which are sorted by start time', () => {
  const rows = spanRows(
    [
      span('queue', null, 0, 100),
      span('run', null, 100, null),
      span('late', 'run', 300, null),
      span('early', 'run', 150, 250),
      span('inner', 'early', 200, 250),
      span('orphan', 'nowhere', 120, 130),
    ],
    1000,
  );
  expect(rows.map(({ span: { name }, depth }) => `${depth} ${name}`)).toEqual([
    '0 queue',
    '0 run',
    '1 early',
    '2 inner',
    '1 late',
    '0 orphan',
  ]);
  expect(rows[3]).toMatchObject({ left: 0.2, width: 0.05, durationMs: 50, offsetMs: 200 });
  expect(rows[4]).toMatchObject({ left: 0.3, width: 0.7, durationMs: 700 });
});

test('spans without a duration are shown, and each span of a cycle is shown only once', () => {
  expect(spanRows([], 0)).toEqual([]);
  expect(spanRows([span('queue', null, 5, 5)], 9)).toMatchObject([{ left: 0, width: 0 }]);
  const cycle = [span('a', 'b', 0, 1), span('b', 'a', 0, 1), span('c', 'c', 0, 1)];
  expect(spanRows([span('run', null, 0, 1), ...cycle], 9)).toHaveLength(1);
});

test('a span is added, or replaces the span with the same ID', () => {
  const [one, two] = [span('a', 'run', 0, null), span('b', 'run', 0, null)];
  const ended = span('a', 'run', 0, 5);
  expect(withSpan([one], two)).toEqual([one, two]);
  expect(withSpan([one, two], ended)).toEqual([ended, two]);
});
