import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { objectKey } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript } from '#domain/testing/samples.ts';
import { openFolderStore } from '#infra/objects/folder.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Snapshots } from './snapshots.ts';

let platform: TestPlatform;
let folder: string;
let objects: ObjectStore;
beforeEach(async () => {
  platform = await openTestPlatform();
  folder = await mkdtemp(join(tmpdir(), 'orch-snapshots-'));
  objects = await openFolderStore({ folder: join(folder, 'objects') });
  await platform.accepted(createGroup());
  await platform.accepted(createScript({ files: [await stored('main.py', 'first')] }));
  const changed = await stored('main.py', 'second');
  await platform.accepted({ type: 'SaveFile', scriptId: scriptId(), ...changed });
});
afterEach(async () => {
  await platform.close();
  await rm(folder, { recursive: true });
});

const open = () => Snapshots.open(join(folder, 'files'), objects, platform.reads);

/** Stores a file in the object store. */
async function stored(path: string, content: string) {
  const bytes = Buffer.from(content);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await objects.put(objectKey.scriptBlob(scriptId(), sha256), bytes);
  return { path, sha256, sizeBytes: bytes.length };
}

async function contents(snapshots: Snapshots, version: number): Promise<readonly string[]> {
  const files = await snapshots.of(scriptId(), version);
  return await Promise.all(files.map(({ source }) => readFile(source, 'utf8')));
}

test("a snapshot stores the files of all versions in the script's folder", async () => {
  const snapshots = await open();
  expect([await contents(snapshots, 1), await contents(snapshots, 2)]).toEqual([
    ['first'],
    ['second'],
  ]);
  expect(await readdir(join(folder, 'files'))).toEqual([scriptId()]);
});

test.each(['', 'fir'])(
  'a cached file is replaced if a power loss truncated it to "%s"',
  async (content) => {
    const [file] = await (await open()).of(scriptId(), 1);
    await writeFile(file!.source, content);
    expect(await contents(await open(), 1)).toEqual(['first']);
  },
);

test('cached files are reused, and removed at the next start if they were unused for a week', async () => {
  const [file] = await (await open()).of(scriptId(), 1);
  await rm(join(folder, 'objects', 'scripts'), { recursive: true });
  expect(await contents(await open(), 1)).toEqual(['first']);
  const longAgo = Date.now() / 1000 - 8 * 24 * 60 * 60;
  await utimes(file!.source, longAgo, longAgo);
  await expect((await open()).of(scriptId(), 1)).rejects.toThrow('is missing');
});
