import { expect, test } from 'vitest';
import type { ErrorFrame } from '#lib/api/types.ts';
import { partsOf, startOf } from './traceback.ts';

const frame = (line: number, own = true): ErrorFrame => ({
  file: own ? 'main.py' : 'requests/api.py',
  line,
  function: 'load',
  code: 'load()',
  own,
});
const shown = (frames: readonly ErrorFrame[]) =>
  partsOf(frames).map((part) => [part.frames.map(({ line }) => line), part.repeats]);

test('the repeated frames of a recursion form one part with the number of repetitions', () => {
  const frames = [frame(1), ...Array.from({ length: 24 }, () => frame(2)), frame(3), frame(2)];
  expect(shown(frames)).toEqual([
    [[1], 0],
    [[2], 23],
    [[3], 0],
    [[2], 0],
  ]);
});

test('consecutive package frames form one part', () => {
  const ofPackage = [7, 8, 8].map((line) => frame(line, false));
  expect(shown([frame(1), ...ofPackage, frame(2)])).toEqual([
    [[1], 0],
    [[7, 8, 8], 0],
    [[2], 0],
  ]);
});

test('a long text is shortened by lines and by characters', () => {
  expect(startOf('one\ntwo')).toBe('one\ntwo');
  expect(startOf('line\n'.repeat(9))).toBe('line\nline\nline\nline\nline …');
  expect(startOf('x'.repeat(4096))).toBe(`${'x'.repeat(400)} …`);
});
