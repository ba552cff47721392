import { expect, test } from 'vitest';
import { toggled } from './selection.ts';

const shown = ['a', 'b', 'c', 'd', 'e'];
const after = (selected: string[], id: string, anchor?: string) =>
  [...toggled(new Set(selected), shown, id, anchor)].toSorted();

test('toggling selects and deselects an item', () => {
  expect(after(['a'], 'b')).toEqual(['a', 'b']);
  expect(after(['a', 'b'], 'b')).toEqual(['a']);
});

test('a range starts at the previously toggled item and extends in either direction', () => {
  expect(after(['d'], 'b', 'd')).toEqual(['b', 'c', 'd']);
  expect(after(['a', 'b', 'c', 'd'], 'd', 'b')).toEqual(['a']);
});

test('if the start of a range is no longer in the list, only the toggled item is selected', () => {
  expect(after(['gone'], 'c', 'gone')).toEqual(['c', 'gone']);
});
