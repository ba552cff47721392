import { expect, test } from 'vitest';
import { describeContent, never, other, describeProgress, presetOf } from './labels.ts';

test('a backup schedule is shown as a preset or as a custom schedule', () => {
  expect([null, '0 3 * * *', '5 4 * * *'].map(presetOf)).toEqual([never, '0 3 * * *', other]);
});

test('a backup is described by its progress and its contents', () => {
  expect([null, 0.389, 1].map((progress) => describeProgress({ progress }))).toEqual([
    '0%',
    '38%',
    '100%',
  ]);
  const of = (events: number | null) => describeContent({ events, size_bytes: 2048 } as never);
  expect([null, 1, 4700].map(of)).toEqual(['', '1 event, 2.0 KiB', '4,700 events, 2.0 KiB']);
});
