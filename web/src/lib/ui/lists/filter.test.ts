import { expect, test } from 'vitest';
import { parseFilter, filterText, matchesFilter } from './filter.ts';

test.each(['', 'failed', 'failed,stopped', '!success'])('%j is read and written', (text) => {
  expect(filterText(parseFilter(text))).toBe(text);
});

test('a list has what is chosen, or all but that', () => {
  expect(matchesFilter(undefined, 'failed')).toBe(true);
  expect(matchesFilter('failed,stopped', 'stopped')).toBe(true);
  expect(matchesFilter('failed', 'stopped')).toBe(false);
  expect(matchesFilter('!failed', 'stopped')).toBe(true);
  expect(matchesFilter('!failed,stopped', 'stopped')).toBe(false);
});
