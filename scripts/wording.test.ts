import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gitProgram } from '#infra/git/testing/programs.ts';
import { describeWith } from './testing/optional-service.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFinder } from './wording/findings.ts';
import { allowed, phrases } from './wording/phrases.ts';

const program = fileURLToPath(new URL('wording.ts', import.meta.url));
const find = createFinder(phrases, allowed);

describe('findings', () => {
  test('state the line, the phrase and the suggestion', () => {
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
    'include only whole words: %j',
    (text) => {
      expect(find('a.ts', text)).toEqual([]);
    },
  );

  test.each([
    ['// While the database is away.', 'is unavailable, does not respond'],
    ['// Waits in vain.', 'without effect, timed out'],
    ['// It ends, and thereby fails.', 'so that, which'],
    ['/** Rejects also when it ends. */', 'even if, including when'],
    ['/** Accepts any text, whatever it contains. */', 'regardless of …'],
    ['// Resumes behind the last line.', 'after the …'],
    ['/** Closes it. Safe to call twice. */', 'idempotent'],
    ['// A look-up by key.', 'lookup'],
    ['// The build back end.', 'backend, frontend'],
    ['interface UpdaterParts {}', '…Deps, …Options'],
    ['const patienceMs = 1;', 'timeoutMs'],
    ['const mostBytes = 1;', 'max…'],
    ['function seesRun() {}', 'canSee…'],
    ['function tellAll() {}', 'notify…, report…, sendTo…'],
    ['function statusWord() {}', '…Label, …Labels, describe…'],
    ['class MortalPlatform {}', 'crashing, killable'],
  ])('suggest a replacement for %s', (text, suggestion) => {
    expect(find('a.ts', text).map((one) => one.suggestion)).toEqual([suggestion]);
  });

  test('exclude exempt files and allowed texts', () => {
    const allows = createFinder(phrases, [
      { path: /^old\//u, reason: 'released' },
      { path: /^b\.ts$/u, text: 'anew', reason: 'a stored name' },
    ]);
    expect(allows('old/a.ts', 'somebody')).toEqual([]);
    expect(allows('b.ts', 'anew, somebody').map(({ text }) => text)).toEqual(['somebody']);
  });
});

describeWith(gitProgram, 'the check', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'wording-'));
    spawnSync('git', ['init', '--quiet'], { cwd: root });
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  function check(): { status: number | null; stdout: string } {
    return spawnSync(process.execPath, [program, '--root', root], { encoding: 'utf8' });
  }

  test('fails for a planted phrase, and prints its location and a suggestion', () => {
    write('docs/page.md', 'Good text.\n\nSomebody has to administer.\n');
    const { status, stdout } = check();
    expect(status).toBe(1);
    expect(stdout).toContain('docs/page.md:3: "somebody": a user, a client, another process');
  });

  test('passes if no phrase is found, and fails if there are no files', () => {
    expect(check().status).toBe(1);
    write('page.md', 'Good text.\n');
    expect(check()).toMatchObject({ status: 0, stdout: '0 replaced phrases in 1 files\n' });
  });
});
