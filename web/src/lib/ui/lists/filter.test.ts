import { expect, test } from 'vitest';
import { filtersHref, filterText, matchesFilter, parseFilter, readFilters } from './filter.ts';

test.each(['', 'failed', 'failed,stopped', '!success'])(
  'the filter %j is parsed and formatted without changes',
  (text) => {
    expect(filterText(parseFilter(text))).toBe(text);
  },
);

test('a filter matches its values, or all other values after an exclamation mark', () => {
  expect(matchesFilter(undefined, 'failed')).toBe(true);
  expect(matchesFilter('failed,stopped', 'stopped')).toBe(true);
  expect(matchesFilter('failed', 'stopped')).toBe(false);
  expect(matchesFilter('!failed', 'stopped')).toBe(true);
  expect(matchesFilter('!failed,stopped', 'stopped')).toBe(false);
});

test('the known filters in a URL are parsed', () => {
  const query = new URLSearchParams('q=night&group_id=!g&enabled=&color=red');
  expect(readFilters(query, ['q', 'group_id', 'enabled'])).toEqual({ q: 'night', group_id: '!g' });
});

test('the URL of a list contains only the filters that are set', () => {
  expect(filtersHref('/runs', { q: 'a b', status: '', since: undefined, position: 7 })).toBe(
    '?q=a+b&position=7',
  );
  expect(filtersHref('/runs', { q: '' })).toBe('/runs');
});
