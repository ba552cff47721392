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
  ])('returns these lines around line %i: %j', (line, numbers) => {
    const lines = linesAround(text, line);
    expect(lines.map(({ number }) => number)).toEqual(numbers);
    expect(lines.every((one) => one.text === `line ${one.number}`)).toBe(true);
  });

  test('returns no lines for an empty file', () => {
    expect(linesAround('', 1)).toEqual([]);
  });
});

test.each([
  ['the line with the same text, even if it has moved', 'a\nb\nc', 2, 'x\ny\nz\n  b\n', 4],
  ['the nearest line, if several lines have the same text', 'a\nb', 2, 'b\n\nb\n', 1],
  ['undefined, if no line has the same text', 'a\nb', 2, 'x\ny', undefined],
])('the line in another version is %s', (_case, text, line, other, number) => {
  expect(lineInOther(text, line, other)).toBe(number);
});
