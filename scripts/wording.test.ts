import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compare, createFinder, lowered } from './wording/findings.ts';
import { allowed, phrases } from './wording/phrases.ts';

const program = fileURLToPath(new URL('wording.ts', import.meta.url));
const find = createFinder(phrases, allowed);

describe('findings', () => {
  test('name the line, the phrase and the suggestion', () => {
    expect(find('docs/x.md', 'First line.\nAsked for by Somebody.\n')).toEqual([
      {
        path: 'docs/x.md',
        line: 2,
        text: 'somebody',
        suggestion: 'a user, a client, another process',
      },
    ]);
  });

  test.each([
    '/** What the runs\n *  of then were. */',
    '// What the runs of\n// then were.',
    'the runs of\n   then were',
  ])('include a phrase that continues on the next line: %j', (text) => {
    expect(find('a.ts', text).map((one) => one.text)).toContain('of then');
  });

  test.each(['const somebodyElse = 1', 'a somebody-like name', 'of thenceforth'])(
    'include whole words only: %j',
    (text) => {
      expect(find('a.ts', text)).toEqual([]);
    },
  );

  test('exclude exempt files and allowed texts', () => {
    const allows = createFinder(phrases, [
      { path: /^old\//u, reason: 'released' },
      { path: /^b\.ts$/u, text: 'anew', reason: 'a stored name' },
    ]);
    expect(allows('old/a.ts', 'somebody')).toEqual([]);
    expect(allows('b.ts', 'anew, somebody').map(({ text }) => text)).toEqual(['somebody']);
  });
});

describe('the baseline', () => {
  test('permits neither more findings nor fewer', () => {
    const baseline = { 'a.ts': 2, 'b.ts': 2, 'c.ts': 1 };
    expect(compare({ 'a.ts': 3, 'b.ts': 1, 'd.ts': 1, 'c.ts': 1 }, baseline)).toEqual({
      risen: ['a.ts', 'd.ts'],
      fallen: ['b.ts'],
    });
  });

  test('is lowered, never raised', () => {
    const baseline = { 'a.ts': 2, 'b.ts': 2, 'c.ts': 1 };
    expect(lowered({ 'a.ts': 3, 'b.ts': 1, 'd.ts': 1 }, baseline, () => true)).toEqual({
      'a.ts': 2,
      'b.ts': 1,
    });
  });

  test('follows a moved file', () => {
    const exists = (path: string) => path !== 'old.ts';
    expect(lowered({ 'new.ts': 2 }, { 'old.ts': 2 }, exists)).toEqual({ 'new.ts': 2 });
    expect(lowered({ 'new.ts': 3 }, { 'old.ts': 2 }, exists)).toEqual({});
  });
});

describe('the check', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'wording-'));
    spawnSync('git', ['init', '--quiet'], { cwd: root });
    write('scripts/wording/baseline.json', '{}\n');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  function check(...args: string[]): { status: number | null; stdout: string } {
    return spawnSync(process.execPath, [program, '--root', root, ...args], { encoding: 'utf8' });
  }

  test('fails for a planted phrase and prints its place and suggestion', () => {
    write('docs/page.md', 'Good text.\n\nSomebody has to administer.\n');
    const { status, stdout } = check();
    expect(status).toBe(1);
    expect(stdout).toContain('docs/page.md:3: "somebody": a user, a client, another process');
  });

  test('does not write a higher count to the baseline', () => {
    write('page.md', 'Somebody.');
    expect(check('--write').status).toBe(1);
    expect(readFileSync(join(root, 'scripts/wording/baseline.json'), 'utf8')).toBe('{}\n');
  });

  test('requires a lower count to be written to the baseline', () => {
    write('page.md', 'Somebody.');
    write('scripts/wording/baseline.json', '{ "page.md": 2 }\n');
    expect(check()).toMatchObject({ status: 1, stdout: expect.stringContaining('--write') });
    expect(check('--write').status).toBe(0);
    expect(check().status).toBe(0);
  });
});
