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

test('frames of a recursion are one part, with the number of their repetitions', () => {
  const frames = [frame(1), ...Array.from({ length: 24 }, () => frame(2)), frame(3), frame(2)];
  expect(shown(frames)).toEqual([
    [[1], 0],
    [[2], 23],
    [[3], 0],
    [[2], 0],
  ]);
});

test('consecutive frames of packages are one part', () => {
  const ofPackage = [7, 8, 8].map((line) => frame(line, false));
  expect(shown([frame(1), ...ofPackage, frame(2)])).toEqual([
    [[1], 0],
    [[7, 8, 8], 0],
    [[2], 0],
  ]);
});

test('a long text is shortened to its first lines or characters', () => {
  expect(startOf('one\ntwo')).toBe('one\ntwo');
  expect(startOf('line\n'.repeat(9))).toBe('line\nline\nline\nline\nline …');
  expect(startOf('x'.repeat(4096))).toBe(`${'x'.repeat(400)} …`);
});
