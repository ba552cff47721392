import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pathProblem } from './path.ts';

describe('the path of a file', () => {
  test.each([
    'main.py',
    'lib/deep/er/module.py',
    '.env',
    '..hidden',
    'a..b/c.',
    '...',
    ' with spaces ',
    'données/😀.txt',
    'database/x',
    'Data/x',
    'lib/data/x',
    'dir.with.dots/file',
    '~/x',
    'C:/x',
    '-rf',
    'a'.repeat(255),
    `${'é'.repeat(127)}a`,
  ])('can be %j', (path) => {
    expect(pathProblem(path)).toBeUndefined();
  });

  test.each([
    ['', 'empty'],
    ['/', 'absolute'],
    ['/main.py', 'absolute'],
    ['//main.py', 'absolute'],
    ['lib/', 'empty segment'],
    ['lib//main.py', 'empty segment'],
    ['.', 'segment "."'],
    ['./main.py', 'segment "."'],
    ['lib/./main.py', 'segment "."'],
    ['lib/.', 'segment "."'],
    ['..', 'segment ".."'],
    ['../main.py', 'segment ".."'],
    ['lib/../../main.py', 'segment ".."'],
    ['lib/..', 'segment ".."'],
    ['lib\\main.py', 'backslash'],
    ['..\\main.py', 'backslash'],
    ['main.py\0', 'control character'],
    ['main\0.py', 'control character'],
    ['main\n.py', 'control character'],
    ['main\x7f.py', 'control character'],
    ['main\ud83d.py', 'not valid Unicode'],
    ['\ude00', 'not valid Unicode'],
    ['a'.repeat(256), 'longer than 255 bytes'],
    ['é'.repeat(128), 'longer than 255 bytes'],
    ['data', 'reserved for runs'],
    ['data/x', 'reserved for runs'],
    ['data/lib/x', 'reserved for runs'],
  ])('cannot be %j: %s', (path, why) => {
    expect(pathProblem(path)).toContain(why);
  });

  test('stays within its folder if it is accepted', () => {
    const parts = fc.constantFrom('..', '.', '', 'a', 'b..', '\\', '\0', 'data', '/', 'é');
    const paths = fc.oneof(
      fc.array(parts, { maxLength: 5 }).map((chosen) => chosen.join('/')),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(paths, (path) => {
        if (pathProblem(path) !== undefined) return;
        const { pathname } = new URL(path.split('/').map(encodeURIComponent).join('/'), 'f:///x/');
        expect(pathname.startsWith('/x/')).toBe(true);
        expect(pathname.length).toBeGreaterThan('/x/'.length);
      }),
      { numRuns: 300 },
    );
  });
});
