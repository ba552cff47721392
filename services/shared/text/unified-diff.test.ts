import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { unifiedDiff } from './unified-diff.ts';

const folder = mkdtempSync(join(tmpdir(), 'orch-diff-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Applies a diff as `patch` would. */
function applied(before: string, diff: string): string {
  const lines = before === '' ? [] : before.split(/(?<=\n)/);
  const result: string[] = [];
  let place = 0;
  let last = ' ';
  for (const line of diff.split(/(?<=\n)/)) {
    const hunk = /^@@ -(\d+),(\d+) /.exec(line);
    if (hunk) {
      const start = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1);
      result.push(...lines.slice(place, start));
      place = start;
    } else if (line.startsWith('\\')) {
      if (last !== '-') result.push(result.pop()?.slice(0, -1) ?? '');
    } else if (line !== '') {
      const [kind = '', text] = [line[0], line.slice(1)];
      if (kind !== '+') place += 1;
      if (kind !== '-') result.push(text);
      last = kind;
    }
  }
  return [...result, ...lines.slice(place)].join('');
}

test('a unified diff shows changes with surrounding lines', () => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`);
  const after = before.with(9, 'another\n').toSpliced(15, 1);
  expect(unifiedDiff(before.join(''), after.join(''))).toBe(`@@ -7,13 +7,12 @@
 line 7
 line 8
 line 9
-line 10
+another
 line 11
 line 12
 line 13
 line 14
 line 15
-line 16
 line 17
 line 18
 line 19
`);
  expect(unifiedDiff('a\n', 'a\n')).toBe('');
  expect(unifiedDiff('', 'a\n')).toBe('@@ -0,0 +1,1 @@\n+a\n');
  expect(unifiedDiff('a', 'a\n')).toContain('\\ No newline at end of file');
});

test('a unified diff turns any text into any other text with the fewest changed lines', () => {
  const text = fc
    .array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n'), { maxLength: 12 })
    .chain((lines) => fc.constantFrom(lines.join(''), `${lines.join('')}end`));
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(applied(before, unifiedDiff(before, after))).toBe(after);
    }),
    { numRuns: 500 },
  );
});

test('a unified diff has no more changed lines than the output of the diff program', () => {
  const before = 'abcabba'.replaceAll(/./g, '$&\n');
  const after = 'cbabac'.replaceAll(/./g, '$&\n');
  writeFileSync(join(folder, 'one'), before);
  writeFileSync(join(folder, 'other'), after);
  const counted = (text: string) => text.split('\n').filter((line) => /^[+-](?![+-])/.test(line));
  const args = ['-c', 'diff -d -u one other; true'];
  const theirs = execFileSync('sh', args, { cwd: folder, encoding: 'utf8' });
  expect(counted(unifiedDiff(before, after))).toHaveLength(counted(theirs).length);
});

test('two texts without common lines are compared quickly', () => {
  const lines = (name: string) =>
    Array.from({ length: 20_000 }, (_, index) => `${name} ${index}\n`).join('');
  const diff = unifiedDiff(lines('one'), lines('other'));
  expect(diff.split('\n')).toHaveLength(40_002);
});
