import { expect, test } from 'vitest';
import { globMatches } from './glob.ts';

test.each([
  ['*', '', true],
  ['*', 'anything', true],
  ['h?llo', 'hello', true],
  ['h?llo', 'hllo', false],
  ['h*llo', 'heeeello', true],
  ['h[ae]llo', 'hallo', true],
  ['h[ae]llo', 'hillo', false],
  ['h[^e]llo', 'hallo', true],
  ['h[^e]llo', 'hello', false],
  ['h[a-c]llo', 'hbllo', true],
  ['h[c-a]llo', 'hbllo', true],
  ['h\\*llo', 'h*llo', true],
  ['h\\*llo', 'hello', false],
  ['[\\]]', ']', true],
  ['script.*', 'script.updated', true],
  ['script.*', 'scheduler:reload', false],
  ['*.*', 'script.completed', true],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-b-b', false],
  ['', '', true],
  ['', 'a', false],
])('matching the pattern %j against %j returns %s', (pattern, text, matches) => {
  expect(globMatches(pattern, text)).toBe(matches);
});

test('a pattern with many stars is matched without exponential backtracking', () => {
  expect(globMatches(`${'*a'.repeat(400)}b`, 'a'.repeat(1000))).toBe(false);
});
