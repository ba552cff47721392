import { expect, test } from 'vitest';
import { syntaxProblem } from './syntax-problem.ts';

test('bytes become a line and a column', () => {
  expect(syntaxProblem('x = 1\nf(:\n', "Expected ')' at byte range 8..9")).toBe(
    "Line 2, column 3: Expected ')'",
  );
});

test('letters of several bytes are one column', () => {
  expect(syntaxProblem('größe = (', 'Unexpected end at byte range 11..11')).toBe(
    'Line 1, column 10: Unexpected end',
  );
});

test('another message stays as it is', () => {
  expect(syntaxProblem('', 'out of memory')).toBe('out of memory');
});
