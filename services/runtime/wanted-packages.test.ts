import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WantedPackages } from './wanted-packages.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orch-wanted-'));
});
afterEach(() => rm(folder, { recursive: true }));

const metadata = (line: string) => `# /// script\n# ${line}\n# ///\nprint("hello")\n`;

/** Returns the requirements of a script with these files, whose entry point is `app.py`, on Python 3.11.7. */
async function wantedBy(files: Readonly<Record<string, string>>) {
  const written = Object.entries(files).map(async ([path, content]) => {
    const source = join(folder, path);
    await writeFile(source, content);
    return { path, source, mode: 0o644 };
  });
  return await new WantedPackages().of(await Promise.all(written), 'app.py', '3.11.7');
}

test('a script without requirements has no packages to install', async () => {
  expect(await wantedBy({ 'app.py': 'print("hello")\n' })).toEqual({ requirements: '' });
  expect(await wantedBy({ 'other.py': metadata('dependencies = ["a"]') })).toEqual({
    requirements: '',
  });
});

test("the entry point's inline metadata applies if there is no requirements file", async () => {
  const files = { 'app.py': metadata('dependencies = ["a>=1", "b"]') };
  expect(await wantedBy(files)).toEqual({ requirements: 'a>=1\nb\n' });
  expect(await wantedBy({ ...files, 'requirements.txt': '' })).toEqual({ requirements: '' });
  expect(await wantedBy({ ...files, 'requirements.txt': 'c\n' })).toEqual({ requirements: 'c\n' });
});

test("requirements that cannot be provided are reported to the script's author", async () => {
  const problem = async (line: string) =>
    JSON.stringify(await wantedBy({ 'app.py': metadata(line) }));
  expect(await problem('requires-python = ">=3.12"')).toContain('interpreter is Python 3.11.7');
  expect(await problem('requires-python = "new"')).toContain('which is not valid');
  expect(await problem('dependencies = 1')).toContain('"problem":"The metadata in app.py');
  expect(await problem('requires-python = ">=3.11"')).toBe('{"requirements":""}');
});
