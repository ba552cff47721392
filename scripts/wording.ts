/** Checks the wording of all tracked text: node scripts/wording.ts [--root folder] [--write] [--all].
 *  Files may have the replaced phrases that scripts/wording/baseline.json counts, and no more. `--write` takes lower
 *  counts over; `--all` prints every finding. The phrases are in scripts/wording/phrases.ts. */
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compare, countsOf, createFinder, lowered } from './wording/findings.ts';
import type { Counts, Finding } from './wording/findings.ts';
import { allowed, phrases } from './wording/phrases.ts';

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) },
    write: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
  },
});
const baselinePath = join(values.root, 'scripts/wording/baseline.json');

/** The tracked files, and new files that are not ignored. */
function textFiles(): { path: string; text: string }[] {
  const list = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: values.root, encoding: 'utf8' },
  );
  return [...new Set(list.split('\0').filter(Boolean))]
    .filter((path) => existsSync(join(values.root, path)))
    .filter((path) => lstatSync(join(values.root, path)).isFile())
    .map((path) => ({ path, text: readFileSync(join(values.root, path), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'));
}

function print({ path, line, text, suggestion }: Finding): void {
  console.log(`${path}:${line}: "${text}": ${suggestion}`);
}

const files = textFiles();
const find = createFinder(phrases, allowed);
const findings = files.flatMap(({ path, text }) => find(path, text));
const counts = countsOf(findings);
const baseline: Counts = existsSync(baselinePath)
  ? (JSON.parse(readFileSync(baselinePath, 'utf8')) as Counts)
  : {};
const paths = new Set(files.map(({ path }) => path));
const expected = values.write ? lowered(counts, baseline, (path) => paths.has(path)) : baseline;
if (values.write) writeFileSync(baselinePath, `${JSON.stringify(expected, null, 2)}\n`);

const { risen, fallen } = compare(counts, expected);
const isRisen = new Set(risen);
for (const finding of findings) if (values.all || isRisen.has(finding.path)) print(finding);
for (const path of risen) {
  console.log(`${path}: ${counts[path]} replaced phrases, ${expected[path] ?? 0} permitted`);
}
if (fallen.length > 0) {
  console.log(`Fewer replaced phrases than the baseline says: ${fallen.join(', ')}`);
  console.log('Run: node scripts/wording.ts --write');
}
console.log(`${findings.length} replaced phrases in ${Object.keys(counts).length} files`);
if (files.length === 0) console.log('No tracked file was found.');
process.exitCode = risen.length + fallen.length > 0 || files.length === 0 ? 1 : 0;
