import { expect, test } from 'vitest';
import { toggled } from './selection.ts';

const shown = ['a', 'b', 'c', 'd', 'e'];
const after = (selected: string[], id: string, anchor?: string) =>
  [...toggled(new Set(selected), shown, id, anchor)].toSorted();

test('selects and deselects an item', () => {
  expect(after(['a'], 'b')).toEqual(['a', 'b']);
  expect(after(['a', 'b'], 'b')).toEqual(['a']);
});

test('extends a range from the previous item, in either direction', () => {
  expect(after(['d'], 'b', 'd')).toEqual(['b', 'c', 'd']);
  expect(after(['a', 'b', 'c', 'd'], 'd', 'b')).toEqual(['a']);
});

test('selects a single item when the start of the range has left the list', () => {
  expect(after(['gone'], 'c', 'gone')).toEqual(['c', 'gone']);
});
