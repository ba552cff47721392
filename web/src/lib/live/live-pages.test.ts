import { expect, test } from 'vitest';
import type { Run } from '#lib/api/types.ts';
import { hasItem, matches, withItem, withoutItem, type Pages } from './live-pages.ts';

interface Item {
  id: string;
  text?: string;
}
const idOf = (item: Item) => item.id;

function pages(...ids: string[][]): Pages<Item> {
  return {
    pageParams: ids.map(() => null),
    pages: ids.map((page, index) => ({
      items: page.map((id) => ({ id })),
      next_cursor: index === ids.length - 1 ? 'more' : 'next',
    })),
  };
}
const idsOf = (data: Pages<Item>) => data.pages.map((page) => page.items.map(idOf));

test('a new item is inserted first', () => {
  expect(idsOf(withItem(pages(['5', '4'], ['3']), { id: '6' }, idOf))).toEqual([
    ['6', '5', '4'],
    ['3'],
  ]);
  expect(idsOf(withItem(pages([]), { id: '1' }, idOf))).toEqual([[]]);
});

test('an existing item is replaced in place', () => {
  const data = withItem(pages(['5', '4'], ['3', '2']), { id: '3', text: 'new' }, idOf);
  expect(idsOf(data)).toEqual([
    ['5', '4'],
    ['3', '2'],
  ]);
  expect(data.pages[1]?.items[0]?.text).toBe('new');
});

test('an item is inserted between its neighbors in the order of IDs', () => {
  expect(idsOf(withItem(pages(['5', '4'], ['2', '1']), { id: '3' }, idOf))).toEqual([
    ['5', '4'],
    ['3', '2', '1'],
  ]);
});

test('an item beyond the loaded pages is ignored, unless all pages are loaded', () => {
  const data = pages(['5', '4']);
  expect(withItem(data, { id: '1' }, idOf)).toBe(data);
  const whole = { ...data, pages: data.pages.map((page) => ({ ...page, next_cursor: null })) };
  expect(idsOf(withItem(whole, { id: '1' }, idOf))).toEqual([['5', '4', '1']]);
});

test('an item is removed from its page', () => {
  const data = pages(['5', '4'], ['3']);
  expect(hasItem(data, '4', idOf)).toBe(true);
  expect(idsOf(withoutItem(data, '4', idOf))).toEqual([['5'], ['3']]);
  expect(withoutItem(data, '7', idOf)).toBe(data);
});

test('a run matches a list if its fields match the filter', () => {
  const run = {
    status: 'failed',
    trigger_type: 'manual',
    script_id: 's1',
    script_name: 'Price watcher',
    queued_at: '2026-11-21T02:00:00.000Z',
  } as Run;
  expect(matches(run, {})).toBe(true);
  expect(matches(run, { status: 'failed', trigger_type: 'manual', q: 'WATCH' })).toBe(true);
  expect(matches(run, { status: 'running' })).toBe(false);
  expect(matches(run, { trigger_type: 'api' })).toBe(false);
  expect(matches(run, { q: 'bot' })).toBeNull();
  expect(matches(run, { status: '!success', script_id: '!s2' })).toBe(true);
  expect(matches(run, { script_id: '!s1' })).toBe(false);
  expect(matches(run, { from: '2026-11-21T03:00:00+01:00' })).toBe(true);
  expect(matches(run, { to: '2026-11-21T02:00:00Z' })).toBe(false);
  expect(matches(run, { group_id: 'some' })).toBe(null);
  expect(matches(run, { group_id: 'some', status: 'running' })).toBe(false);
});
