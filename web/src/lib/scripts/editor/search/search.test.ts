import { expect, test } from 'vitest';
import { findInFiles } from './find-in-files.ts';
import { outlineOf } from './outline.ts';

test('the search finds every occurrence in all files, with its line and offset', () => {
  const files = [
    { path: 'a.py', text: 'x = 1\n    total = x + x.y\n' },
    { path: 'b.md', text: 'X' },
  ];
  expect(
    findInFiles(files, 'x', true).map(({ path, line, offset }) => [path, line, offset]),
  ).toEqual([
    ['a.py', 1, 0],
    ['a.py', 2, 18],
    ['a.py', 2, 22],
  ]);
  expect(findInFiles(files, 'X', false)).toHaveLength(4);
  expect(findInFiles(files, 'x.', true)).toMatchObject([
    { before: 'total = x + ', match: 'x.', after: 'y' },
  ]);
  expect(findInFiles(files, '', true)).toEqual([]);
});

test('the outline lists classes and functions with their nesting, even if the code has syntax errors', () => {
  const code =
    'def one():\n    pass\n\nclass Two:\n    async def three(self):\n        def four(): pass\n\ndef five(:\n';
  expect(outlineOf(code).map(({ kind, name, depth, line }) => [kind, name, depth, line])).toEqual([
    ['function', 'one', 0, 1],
    ['class', 'Two', 0, 4],
    ['function', 'three', 1, 5],
    ['function', 'four', 2, 6],
    ['function', 'five', 0, 8],
  ]);
});
