import { expect, test } from 'vitest';
import { syntaxProblem } from './syntax-problem.ts';

test('the byte offset in a message becomes a line and a column', () => {
  expect(syntaxProblem('x = 1\nf(:\n', "Expected ')' at byte range 8..9")).toBe(
    "Line 2, column 3: Expected ')'",
  );
});

test('a multi-byte character counts as one column', () => {
  expect(syntaxProblem('größe = (', 'Unexpected end at byte range 11..11')).toBe(
    'Line 1, column 10: Unexpected end',
  );
});

test('a message without a byte offset stays unchanged', () => {
  expect(syntaxProblem('', 'out of memory')).toBe('out of memory');
});
