import { describe, expect, test } from 'vitest';
import { lineInOther, linesAround } from './lines-around.ts';

const text = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join('\n');

describe('linesAround', () => {
  test.each([
    [10, [6, 7, 8, 9, 10, 11, 12, 13, 14]],
    [1, [1, 2, 3, 4, 5]],
    [20, [16, 17, 18, 19, 20]],
    [21, []],
    [0, []],
  ])('returns the lines around line %i: %j', (line, numbers) => {
    const lines = linesAround(text, line);
    expect(lines.map(({ number }) => number)).toEqual(numbers);
    expect(lines.every((one) => one.text === `line ${one.number}`)).toBe(true);
  });

  test('returns no lines for an empty file', () => {
    expect(linesAround('', 1)).toEqual([]);
  });
});

test.each([
  ['a line that has moved', 'a\nb\nc', 2, 'x\ny\nz\n  b\n', 4],
  ['the nearest of several equal lines', 'a\nb', 2, 'b\n\nb\n', 1],
  ['nothing, if no line has that text', 'a\nb', 2, 'x\ny', undefined],
])('finds in another version: %s', (_case, text, line, other, number) => {
  expect(lineInOther(text, line, other)).toBe(number);
});
