import { expect, test } from 'vitest';
import { lineDiff, withContext, type DiffLine } from './line-diff.ts';

const marks = { same: ' ', removed: '-', added: '+' } as const;
const written = (lines: readonly DiffLine[] | undefined) =>
  lines?.map(({ kind, text }) => `${marks[kind]}${text}`);

test.each([
  ['', '', []],
  ['a b c', 'a b c', [' a', ' b', ' c']],
  ['a b c', 'a c', [' a', '-b', ' c']],
  ['a c', 'a b c', [' a', '+b', ' c']],
  ['', 'a', ['+a']],
  ['a', '', ['-a']],
  ['a b', 'x b', ['-a', '+x', ' b']],
  ['a b c a b b a', 'c b a b a c', ['-a', '-b', ' c', '+b', ' a', ' b', '-b', ' a', '+c']],
])('the diff from %j to %j is %j', (before, after, expected) => {
  const lines = (text: string) => text.split(' ').filter(Boolean);
  expect(written(lineDiff(lines(before), lines(after)))).toEqual(expected);
});

test('common and removed lines form the old text, and common and added lines form the new text', () => {
  const before = Array.from({ length: 300 }, (_, index) => String((index * 7) % 40));
  const after = Array.from({ length: 280 }, (_, index) => String((index * 11) % 40));
  const lines = lineDiff(before, after) ?? [];
  const only = (other: DiffLine['kind']) =>
    lines.filter(({ kind }) => kind !== other).map(({ text }) => text);
  expect(only('added')).toEqual(before);
  expect(only('removed')).toEqual(after);
});

test('texts with too many differences are not compared', () => {
  const lines = (name: string) => Array.from({ length: 600 }, (_, index) => `${name} ${index}`);
  expect(lineDiff(lines('a'), lines('b'))).toBeUndefined();
});

test('lines far from a difference are omitted', () => {
  const lines = (lineDiff('a b c d e f g h'.split(' '), 'a b c x e f g h'.split(' ')) ??
    []) as readonly DiffLine[];
  expect(
    withContext(lines, 1).map((one) => ('omitted' in one ? one.omitted : written([one])?.[0])),
  ).toEqual([2, ' c', '-d', '+x', ' e', 3]);
  expect(withContext(lineDiff(['a'], ['a']) ?? [], 3)).toEqual([]);
});
