import { expect, test } from 'vitest';
import { syntaxProblem } from './syntax-problem.ts';

test('converts bytes to a line and a column', () => {
  expect(syntaxProblem('x = 1\nf(:\n', "Expected ')' at byte range 8..9")).toBe(
    "Line 2, column 3: Expected ')'",
  );
});

test('counts a multi-byte character as one column', () => {
  expect(syntaxProblem('größe = (', 'Unexpected end at byte range 11..11')).toBe(
    'Line 1, column 10: Unexpected end',
  );
});

test('leaves another message unchanged', () => {
  expect(syntaxProblem('', 'out of memory')).toBe('out of memory');
});
