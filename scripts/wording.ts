/** Checks the wording of all tracked text: node scripts/wording.ts [--root folder]. Prints each discouraged phrase
 *  with a suggestion, and fails if there is one. The phrases are in scripts/wording/phrases.ts. */
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createFinder } from './wording/findings.ts';
import { allowed, phrases } from './wording/phrases.ts';

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) },
  },
});

/** Returns all tracked files, and new files that are not ignored. */
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

const files = textFiles();
const find = createFinder(phrases, allowed);
const findings = files.flatMap(({ path, text }) => find(path, text));
for (const { path, line, text, suggestion } of findings) {
  console.log(`${path}:${line}: "${text}": ${suggestion}`);
}
console.log(`${findings.length} replaced phrases in ${files.length} files`);
process.exitCode = findings.length > 0 || files.length === 0 ? 1 : 0;
