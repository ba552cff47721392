import { expect, test } from 'vitest';
import { pathProblem, treeRows } from './file-tree.ts';

test('the file list shows folders first, then the entry point, then other files', () => {
  const rows = treeRows(['a.py', 'main.py', 'lib/sub/x.py', 'lib/b.py'], 'main.py');
  expect(rows.map((row) => `${'  '.repeat(row.depth)}${row.name}`)).toEqual([
    'lib',
    '  sub',
    '    x.py',
    '  b.py',
    'main.py',
    'a.py',
  ]);
  expect(rows[2]?.path).toBe('lib/sub/x.py');
});

test.each(['', '/x', 'a//b', '../x', './x', 'a/..', 'a\\b', 'x'.repeat(256)])(
  'the path "%s" is refused',
  (path) => expect(pathProblem(path, [])).not.toBeNull(),
);

test('a new path is accepted, but not the path of an existing file', () => {
  expect(pathProblem('modules/report.py', ['main.py'])).toBeNull();
  expect(pathProblem('main.py', ['main.py'])).not.toBeNull();
});
