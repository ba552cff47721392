import { describe, expect, test } from 'vitest';
import { linesAround } from './lines-around.ts';

const text = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join('\n');

describe('the lines around a line', () => {
  test.each([
    [10, [6, 7, 8, 9, 10, 11, 12, 13, 14]],
    [1, [1, 2, 3, 4, 5]],
    [20, [16, 17, 18, 19, 20]],
    [21, []],
    [0, []],
  ])('of line %i are %j', (line, numbers) => {
    const lines = linesAround(text, line);
    expect(lines.map(({ number }) => number)).toEqual(numbers);
    expect(lines.every((one) => one.text === `line ${one.number}`)).toBe(true);
  });

  test('are empty for an empty file', () => {
    expect(linesAround('', 1)).toEqual([]);
  });
});
