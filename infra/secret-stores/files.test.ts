import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeSecretStore } from '#infra/conformance/secret-store.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileStore } from './files.ts';

describeSecretStore('files', async () => {
  const root = await mkdtemp(join(tmpdir(), 'secret-files-'));
  return {
    open: () => new FileStore(root),
    put: async (path, key, value) => {
      await mkdir(join(root, path), { recursive: true });
      await writeFile(join(root, path, key), value);
    },
    close: () => rm(root, { recursive: true }),
  };
});

describe('a folder store', () => {
  let parent: string;
  let root: string;
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'secret-links-'));
    root = join(parent, 'mounted');
    await mkdir(join(root, '..data'), { recursive: true });
    await mkdir(join(parent, 'mounted-too'));
    await writeFile(join(parent, 'mounted-too', 'outside'), 'outside');
    await writeFile(join(root, '..data', 'password'), 'inside\r\n');
    await symlink('..data/password', join(root, 'password'));
    await symlink('../mounted-too/outside', join(root, 'link'));
    await symlink('../mounted-too', join(root, 'folder'));
    await symlink('loop', join(root, 'loop'));
    await writeFile(join(root, 'binary'), Buffer.from([0xff, 0xfe, 0x41]));
    await writeFile(join(root, 'nul'), 'a\0b');
  });
  afterAll(() => rm(parent, { recursive: true }));

  const read = async (path: string, key: string) =>
    await new FileStore(root).read({ path, key }, AbortSignal.timeout(5_000));

  test('follows links within the folder, as Kubernetes creates them, and removes one line break', async () => {
    expect(await read('', 'password')).toBe('inside');
  });

  test.each([
    ['', 'link', 'a symbolic link points outside the folder'],
    ['folder', 'outside', 'a symbolic link points outside the folder'],
    ['', 'loop', 'a symbolic link points outside the folder'],
    ['', 'folder', 'a symbolic link points outside the folder'],
    ['', '..data', 'it is not a regular file'],
    ['password', 'x', 'the file does not exist'],
    ['', 'binary', 'the file is not valid UTF-8'],
    ['', 'nul', 'the value contains a NUL character'],
  ])('refuses the path %j with the key %j because %s', async (path, key, reason) => {
    await expect(read(path, key)).rejects.toThrow(reason);
  });

  test('fails its check if the folder does not exist', async () => {
    await expect(new FileStore(join(parent, 'absent')).check()).rejects.toThrow('does not exist');
  });
});
