/** Reads the files of a commit from Git's object store. Limits are checked before a file is read. */
import { GitProblem, type GitFile } from '#domain/ports/git.ts';
import { maxFileBytes } from '#domain/script/settings.ts';
import type { Run } from './process.ts';

const maxFiles = 10_000;
const maxListBytes = 16 * 1024 * 1024;
const maxTotalBytes = 100 * 1024 * 1024;
const maxPathBytes = 1024;

interface Entry {
  readonly path: string;
  readonly object: string;
  readonly sizeBytes: number;
}

/** @throws GitProblem if a file is too large or is not a regular file */
export async function readTree(
  hash: string,
  folder: string,
  isWanted: (path: string) => boolean,
  run: Run,
): Promise<readonly GitFile[]> {
  const root = folder === '' ? hash : `${hash}:${folder}`;
  const list = await run(['ls-tree', '-r', '-z', '-l', '--full-tree', root], maxListBytes).catch(
    (error: unknown) => {
      const isMissing =
        folder !== '' && error instanceof Error && /not a tree|Not a valid/.test(error.message);
      throw isMissing
        ? new GitProblem(`The folder "${folder}" does not exist in this commit.`)
        : error;
    },
  );
  const entries = entriesOf(list, isWanted);
  if (entries.length === 0) return [];
  const totalBytes = entries.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
  if (totalBytes > maxTotalBytes)
    throw new GitProblem('The files in the commit exceed 100 MiB in total.');
  const input = entries.map(({ object }) => `${object}\n`).join('');
  const contents = await run(['cat-file', '--batch'], totalBytes + entries.length * 100, input);
  return contentsOf(entries, contents);
}

function entriesOf(list: Buffer, isWanted: (path: string) => boolean): readonly Entry[] {
  const entries: Entry[] = [];
  for (let start = 0; start < list.length;) {
    const end = list.indexOf(0, start);
    const entry = entryOf(list.subarray(start, end === -1 ? list.length : end), isWanted);
    if (entry !== undefined) entries.push(entry);
    if (entries.length > maxFiles)
      throw new GitProblem(`The commit has more than ${maxFiles} files.`);
    start = end === -1 ? list.length : end + 1;
  }
  return entries;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses a line such as `100644 blob 1f7a… 12\tscripts/report/main.py`. */
function entryOf(line: Buffer, isWanted: (path: string) => boolean): Entry | undefined {
  const tab = line.indexOf('\t');
  const [mode = '', , object = '', size = ''] = line
    .subarray(0, tab)
    .toString('latin1')
    .split(/ +/);
  const name = line.subarray(tab + 1);
  const path = decoded(name);
  const text = path ?? name.toString('latin1');
  // A commit can replace a script folder with a symbolic link or a submodule.
  const isLink = mode === '120000' || mode === '160000';
  if (!isWanted(text) && !(isLink && isWanted(`${text}/script/main.py`))) return undefined;
  if (path === undefined) throw new GitProblem('A file name is not valid UTF-8.');
  const shown = JSON.stringify(path.slice(0, 200));
  if (name.length > maxPathBytes) throw new GitProblem(`The path ${shown} is too long.`);
  if (mode === '120000') throw new GitProblem(`${shown} is a symbolic link. Use a file.`);
  if (mode === '160000') throw new GitProblem(`${shown} is a submodule. Use a folder with files.`);
  if (mode !== '100644' && mode !== '100755' && mode !== '100664')
    throw new GitProblem(`${shown} is not a file.`);
  const sizeBytes = Number(size);
  if (!(sizeBytes <= maxFileBytes))
    throw new GitProblem(`${shown} is too large: a file may have at most ${maxFileBytes} bytes.`);
  return { path, object, sizeBytes };
}

function decoded(name: Buffer): string | undefined {
  try {
    return utf8.decode(name);
  } catch {
    return undefined;
  }
}

/** Git precedes each file's content with a line such as `1f7a… blob 12`. */
function contentsOf(entries: readonly Entry[], answer: Buffer): readonly GitFile[] {
  let at = 0;
  return entries.map(({ path, object, sizeBytes }) => {
    const end = answer.indexOf('\n', at);
    if (answer.subarray(at, end).toString('latin1') !== `${object} blob ${sizeBytes}`)
      throw new GitProblem(`The file ${JSON.stringify(path)} cannot be read.`);
    const content = answer.subarray(end + 1, end + 1 + sizeBytes);
    at = end + 1 + sizeBytes + 1;
    return { path, content };
  });
}
