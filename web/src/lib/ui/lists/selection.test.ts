import { expect, test } from 'vitest';
import { toggled } from './selection.ts';

const shown = ['a', 'b', 'c', 'd', 'e'];
const after = (selected: string[], id: string, anchor?: string) =>
  [...toggled(new Set(selected), shown, id, anchor)].toSorted();

test('one is selected, and left out again', () => {
  expect(after(['a'], 'b')).toEqual(['a', 'b']);
  expect(after(['a', 'b'], 'b')).toEqual(['a']);
});

test('a range reaches from the one before, in either direction', () => {
  expect(after(['d'], 'b', 'd')).toEqual(['b', 'c', 'd']);
  expect(after(['a', 'b', 'c', 'd'], 'd', 'b')).toEqual(['a']);
});

test('a range whose beginning has left the list is one', () => {
  expect(after(['gone'], 'c', 'gone')).toEqual(['c', 'gone']);
});
