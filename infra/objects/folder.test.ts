import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { objectKey } from '#domain/ports/object-keys.ts';
import {
  ObjectConflict,
  ObjectStoreFull,
  ObjectStoreUnavailable,
  type ObjectStore,
} from '#domain/ports/objects.ts';
import { describeObjectStore } from '../conformance/objects.ts';
import { openFolderStore } from './folder.ts';

const temporaryFolder = () => mkdtemp(join(tmpdir(), 'objects-'));
const text = (value: string) => new TextEncoder().encode(value);

describeObjectStore('folder', async () => {
  const folder = await temporaryFolder();
  return {
    store: await openFolderStore({ folder }),
    damage: (key, bytes) => writeFile(join(folder, key), bytes),
    // Retries, because a write that a test abandoned may still add a file.
    close: () => rm(folder, { recursive: true, maxRetries: 10 }),
  };
});

describe('the object folder', () => {
  let folder: string;
  let store: ObjectStore;
  const key = objectKey.runArtifact('r1', 'a/b.txt');

  beforeEach(async () => {
    folder = await temporaryFolder();
    store = await openFolderStore({ folder: join(folder, 'store'), maxConcurrency: 2 });
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('stores each object as a plain file under its key', async () => {
    await store.put(key, text('hello'));
    expect(await readFile(join(folder, 'store', key), 'utf8')).toBe('hello');
  });

  test('removes folders that have become empty', async () => {
    await store.put(key, text('hello'));
    await store.delete(key);
    expect(await readdir(join(folder, 'store', 'runs'))).toEqual([]);
  });

  test('refuses a key below an existing object, and a key that is a prefix of others', async () => {
    await store.put(key, text('hello'));
    const below = objectKey.runArtifact('r1', 'a/b.txt/c');
    const above = objectKey.runArtifact('r1', 'a');
    await expect(store.put(below, text('x'))).rejects.toThrow(ObjectConflict);
    await expect(store.put(above, text('x'))).rejects.toThrow(ObjectConflict);
    expect(await store.get(below)).toBeUndefined();
    expect(await store.get(above)).toBeUndefined();
    expect(await readdir(join(folder, 'store', '.incoming'))).toEqual([]);
  });

  test('does not follow symbolic links, neither as objects nor in their paths', async () => {
    const outside = join(folder, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'secret'), 'secret');
    const link = objectKey.runArtifact('r2', 'link');
    const through = objectKey.runArtifact('r2', 'folder/secret');
    const artifacts = dirname(join(folder, 'store', link));
    await mkdir(artifacts, { recursive: true });
    await symlink(join(outside, 'secret'), join(artifacts, 'link'));
    await symlink(outside, join(artifacts, 'folder'));

    for (const planted of [link, through]) {
      await expect(store.get(planted)).rejects.toThrow(ObjectStoreUnavailable);
      await expect(store.head(planted)).rejects.toThrow(ObjectStoreUnavailable);
    }
    await expect(store.put(through, text('x'))).rejects.toThrow(ObjectStoreUnavailable);
    await expect(store.delete(through)).rejects.toThrow(ObjectStoreUnavailable);
    expect(await Array.fromAsync(store.list('runs/r2/'))).toEqual([]);
    await expect(Array.fromAsync(store.list('runs/r2/artifacts/folder/'))).rejects.toThrow(
      ObjectStoreUnavailable,
    );

    await store.put(link, text('mine'));
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret');
    expect(await store.get(link)).toEqual(Buffer.from('mine'));
  });

  test('removes files of crashed writers, but keeps files of active writers', async () => {
    const incoming = join(folder, 'store', '.incoming');
    await writeFile(join(incoming, 'old'), 'half');
    await writeFile(join(incoming, 'new'), 'half');
    await utimes(join(incoming, 'old'), 0, 0);
    await openFolderStore({ folder: join(folder, 'store') });
    expect(await readdir(incoming)).toEqual(['new']);
  });

  test.each([
    ['is missing', () => rename(join(folder, 'store'), join(folder, 'away'))],
    [
      'is empty because its disk was unmounted',
      async () => {
        await rename(join(folder, 'store'), join(folder, 'away'));
        await mkdir(join(folder, 'store'));
      },
    ],
  ])('is unavailable while the folder %s, and reports no object as missing', async (_, remove) => {
    await store.put(key, text('x'));
    await remove();
    const tries = [
      () => store.get(key),
      () => store.getStream(key),
      () => store.head(objectKey.system('health')),
      () => store.put(key, text('y')),
      () => store.delete(key),
      () => Array.fromAsync(store.list('')),
    ];
    for (const each of tries) await expect(each()).rejects.toThrow(ObjectStoreUnavailable);
    await rm(join(folder, 'store'), { recursive: true, force: true });
    await rename(join(folder, 'away'), join(folder, 'store'));
    expect(await store.get(key)).toEqual(Buffer.from('x'));
  });

  test('propagates disk errors with their cause', async () => {
    await rm(join(folder, 'store', '.incoming'), { recursive: true });
    const error: unknown = await store.put(key, text('x')).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ObjectStoreUnavailable);
    expect(error).toMatchObject({ cause: { code: 'ENOENT' } });
  });
});

const canMount = process.getuid?.() === 0;

describe.skipIf(!canMount)('a full disk (needs root to mount one)', () => {
  let disk: string;
  beforeEach(async () => {
    disk = await temporaryFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', `objects-${randomUUID()}`, disk]);
  });
  afterEach(async () => {
    execFileSync('umount', [disk]);
    await rm(disk, { recursive: true });
  });

  test('makes writes fail without leftovers until space is available', async () => {
    const store = await openFolderStore({ folder: disk });
    const [small, big] = [objectKey.system('small'), objectKey.system('big')];
    await store.put(small, new Uint8Array(600_000));
    await expect(store.put(big, new Uint8Array(600_000))).rejects.toThrow(ObjectStoreFull);
    const stream = async function* () {
      for (let n = 0; n < 6; n += 1) yield new Uint8Array(100_000);
    };
    await expect(store.putStream(big, stream())).rejects.toThrow(ObjectStoreFull);
    expect(await readdir(join(disk, '.incoming'))).toEqual([]);
    expect((await store.get(small))?.byteLength).toBe(600_000);
    await store.delete(small);
    await store.put(big, new Uint8Array(600_000));
  });
});
