import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Frame, RunError } from '#domain/run/error/error.ts';
import type { RunFile } from './sandbox/sandbox.ts';
import { withVersionCode } from './version-code.ts';

let folder: string;
let files: readonly RunFile[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orch-version-code-'));
  const contents: Readonly<Record<string, Buffer>> = {
    'main.py': Buffer.from('x = 1\r\n  work(x)\nraise ValueError(\n    "hunter2hunter2")\n\n'),
    'old.py': Buffer.from('print("\xe4")\n', 'latin1'),
    'data/kept.py': Buffer.from('version()\n'),
  };
  files = await Promise.all(
    Object.entries(contents).map(async ([path, content], index) => {
      const source = join(folder, String(index));
      await writeFile(source, content);
      return { path, source } as RunFile;
    }),
  );
  files = [...files, { path: 'purged.py', source: join(folder, 'none') } as RunFile];
});
afterAll(() => rm(folder, { recursive: true }));

const frame = (change: Partial<Frame>): Frame => ({
  file: 'main.py',
  line: 2,
  function: 'f',
  code: 'work(x)',
  own: true,
  ...change,
});

/** Returns the code of a frame as shown in the error and in a cause. */
async function codeOf(change: Partial<Frame>): Promise<string | undefined> {
  const frames = [frame(change)];
  const cause = { type: 'KeyError', message: '', frames, relation: 'cause' as const };
  const error: RunError = { type: 'E', message: '', frames, causes: [cause], source: 'hook' };
  const shown = await withVersionCode(error, files, (text) =>
    text.replaceAll('hunter2hunter2', '***'),
  );
  expect(shown.causes[0]?.frames).toEqual(shown.frames);
  return shown.frames[0]?.code;
}

test.each<[string, Partial<Frame>, string]>([
  ['the line of the version', { code: 'gone()' }, 'work(x)'],
  ['the line of the version without its secrets', { line: 4, code: 'gone()' }, '"***")'],
  ['no code for a line beyond the end of the version', { line: 90, code: 'gone()' }, ''],
  ['no code for an empty line of the version', { line: 5, code: 'gone()' }, ''],
])('a frame in an overwritten file shows %s', async (_line, change, code) => {
  expect(await codeOf(change)).toBe(code);
});

test.each<[string, Partial<Frame>]>([
  ['the same line', {}],
  ['a statement of several lines', { line: 3, code: 'raise ValueError( "***")' }],
  ['a package', { code: 'gone()', own: false }],
  ['a file that is not part of the version', { file: 'made.py', code: 'gone()' }],
  ['a file in the data folder', { file: 'data/kept.py', line: 1, code: 'newer()' }],
  ['a file in another encoding', { file: 'old.py', line: 1, code: 'print("ä")' }],
  ['a purged file', { file: 'purged.py', code: 'gone()' }],
  ['a frame without code', { code: '' }],
])('the code of a frame is unchanged for %s', async (_frame, change) => {
  expect(await codeOf(change)).toBe(frame(change).code);
});
