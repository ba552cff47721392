import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Catalog } from './catalog.ts';
import { makeReadOnly, removeFolder } from './folders.ts';
import { tryLock } from './host-lock.ts';
import { isAlive, newOwner } from './owner.ts';

let folder: string;
let catalog: Catalog;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalog-'));
  catalog = new Catalog(folder);
  await catalog.open();
});
afterEach(() => removeFolder(folder));

const ids = (part: string) => readdir(join(folder, part));

/** Publishes an environment that was last used this many seconds ago. */
async function givenEnvironment(key: string, secondsAgo = 0, sizeBytes = 100): Promise<void> {
  const directory = `${key}-1`;
  await mkdir(catalog.path('environments', directory));
  await catalog.publish(key, { directory, lock: '', sizeBytes });
  const time = Date.now() / 1000 - secondsAgo;
  await utimes(catalog.path('ready', key), time, time);
}

/** Returns the owner record of a process that has exited. */
async function deadOwner(): Promise<string> {
  const child = spawn('/bin/true');
  const { pid = 0 } = child;
  await once(child, 'exit');
  return JSON.stringify({ ...newOwner(), pid, startedTicks: '1' });
}

describe('the owner of an environment', () => {
  test('is alive in its process, and dead after the process exits, the host restarts or the process ID is reused', async () => {
    const owner = newOwner();
    expect(isAlive(JSON.stringify(owner), 0)).toBe(true);
    expect(isAlive(await deadOwner(), 0)).toBe(false);
    expect(isAlive(JSON.stringify({ ...owner, bootId: 'another' }), 0)).toBe(false);
    expect(isAlive(JSON.stringify({ ...owner, startedTicks: '1' }), 0)).toBe(false);
  });

  test('is assumed to be alive for some time if it cannot be checked', () => {
    const elsewhere = JSON.stringify({ ...newOwner(), pidNamespace: 'pid:[1]', pid: 1 });
    const hourMs = 60 * 60 * 1000;
    expect([isAlive(elsewhere, 0), isAlive(elsewhere, 2 * hourMs)]).toEqual([true, false]);
    expect([isAlive('{"pi', 0), isAlive('{"pi', 2 * hourMs)]).toEqual([true, false]);
  });
});

describe('the build lock for a key', () => {
  const locks = () => catalog.path('locks');

  test('has one holder at a time', async () => {
    const taken = await Promise.all(Array.from({ length: 10 }, () => tryLock(locks(), 'a')));
    const [unlock, ...others] = taken.filter((each) => each !== undefined);
    expect(others).toEqual([]);
    expect(await tryLock(locks(), 'b')).toBeDefined();
    await unlock?.();
    expect(await tryLock(locks(), 'a')).toBeDefined();
    expect((await ids('locks')).toSorted()).toEqual(['a', 'b']);
  });

  test('is taken over from a process that has exited', async () => {
    await mkdir(join(locks(), 'a'));
    await writeFile(join(locks(), 'a', 'owner'), await deadOwner());
    expect(await tryLock(locks(), 'a')).toBeDefined();
    expect(await tryLock(locks(), 'a')).toBeUndefined();
  });
});

describe('a finished environment', () => {
  test('is flushed to disk before it is published', async () => {
    const note = join(folder, 'note');
    const program = `#!/bin/sh\n{ echo "$@"; ls '${catalog.path('ready')}'; } > '${note}'\n`;
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin', 'sync'), program, { mode: 0o755 });
    vi.stubEnv('PATH', `${join(folder, 'bin')}:${process.env['PATH']}`);
    await givenEnvironment('a').finally(() => vi.unstubAllEnvs());
    expect(await readFile(note, 'utf8')).toBe(`--file-system ${catalog.path('environments')}\n`);
  });

  test('stays leased until the lease is released', async () => {
    await givenEnvironment('a');
    const lease = catalog.lease('a');
    expect(lease?.environment).toEqual({ directory: 'a-1', lock: '', sizeBytes: 100 });
    expect(await ids('uses')).toHaveLength(1);
    lease?.release();
    lease?.release();
    expect(await ids('uses')).toEqual([]);
    expect(catalog.lease('b')).toBeUndefined();
  });

  test('is kept when another environment with the same key is finished later', async () => {
    await givenEnvironment('a');
    await catalog.publish('a', { directory: 'a-2', lock: '', sizeBytes: 1 });
    expect(catalog.lease('a')?.environment.directory).toBe('a-1');
    expect(await ids('ready')).toEqual(['a']);
  });

  test('is ignored if its folder is missing or its entry is empty', async () => {
    await givenEnvironment('a');
    await rm(catalog.path('environments', 'a-1'), { recursive: true });
    expect(catalog.has('a')).toBe(false);
    await writeFile(catalog.path('ready', 'b'), '');
    expect(catalog.lease('b')).toBeUndefined();
    expect(await ids('ready')).toEqual([]);
  });
});

describe('private environments', () => {
  test('are found by their script, and removed with the script when unused', async () => {
    await givenEnvironment('shared');
    for (const key of ['a', 'b']) {
      await mkdir(catalog.path('environments', `${key}-1`));
      const own = { directory: `${key}-1`, lock: '', sizeBytes: 1, scriptId: 's1' };
      await catalog.publish(key, own);
    }
    expect(await catalog.owners()).toEqual(['s1', 's1']);
    const lease = catalog.lease('b');
    await catalog.removeOwned('s1');
    expect((await ids('environments')).toSorted()).toEqual(['b-1', 'shared-1']);
    lease?.release();
    await catalog.removeOwned('s1');
    expect(await ids('environments')).toEqual(['shared-1']);
  });
});

describe('opening the environment catalog', () => {
  test('removes unfinished folders, and keeps finished environments and active builds', async () => {
    await givenEnvironment('done');
    const died = catalog.path('environments', 'died-1');
    await mkdir(join(died, 'lib'), { recursive: true });
    await makeReadOnly(died, false);
    await writeFile(catalog.path('uses', 'died-1.x'), await deadOwner());
    await mkdir(catalog.path('work', 'died-1'));
    await writeFile(catalog.path('uses', 'done-1.x'), await deadOwner());
    await mkdir(catalog.path('environments', 'building-1'));
    await mkdir(catalog.path('work', 'building-1'));
    const endUse = catalog.use('building-1');

    await new Catalog(folder).open();
    expect((await ids('environments')).toSorted()).toEqual(['building-1', 'done-1']);
    expect(await ids('work')).toEqual(['building-1']);
    expect(await ids('uses')).toHaveLength(1);
    endUse();
    await new Catalog(folder).open();
    expect(await ids('environments')).toEqual(['done-1']);
  });
});

describe('environment eviction', () => {
  const many = { maxEnvironments: 100, maxBytes: 1e9 };

  test('removes the least recently used environments', async () => {
    await givenEnvironment('a', 30);
    await givenEnvironment('b', 20);
    await givenEnvironment('c', 10);
    catalog.lease('a')?.release();
    await catalog.evict({ ...many, maxEnvironments: 2 });
    expect((await ids('ready')).toSorted()).toEqual(['a', 'c']);
    expect((await ids('environments')).toSorted()).toEqual(['a-1', 'c-1']);
  });

  test('limits the total size, but always keeps the newest environment', async () => {
    await givenEnvironment('a', 30, 600);
    await givenEnvironment('b', 20, 600);
    await givenEnvironment('c', 10, 600);
    await catalog.evict({ ...many, maxBytes: 1300 });
    expect((await ids('ready')).toSorted()).toEqual(['b', 'c']);
    await catalog.evict({ ...many, maxBytes: 1 });
    expect(await ids('ready')).toEqual(['c']);
  });

  test('keeps environments that this or another process uses', async () => {
    await givenEnvironment('a', 30);
    await givenEnvironment('b', 20);
    await givenEnvironment('c', 10);
    const lease = new Catalog(folder).lease('a');
    await utimes(catalog.path('ready', 'a'), 0, 0);
    await catalog.evict({ ...many, maxEnvironments: 1 });
    expect((await ids('ready')).toSorted()).toEqual(['a', 'c']);
    lease?.release();
    await catalog.evict({ ...many, maxEnvironments: 1 });
    expect(await ids('ready')).toEqual(['c']);
  });

  test('never removes an environment that another process is acquiring', async () => {
    for (let round = 0; round < 30; round += 1) {
      await givenEnvironment('old', 30);
      await givenEnvironment('new', 0);
      const evicted = catalog.evict({ ...many, maxEnvironments: 1 });
      for (let step = 0; step < round; step += 1) await setImmediate();
      const lease = catalog.lease('old');
      await evicted;
      const isThere = (await ids('environments')).includes('old-1');
      if (lease !== undefined) expect(isThere).toBe(true);
      lease?.release();
      for (const part of ['ready', 'environments']) {
        for (const name of await ids(part)) await rm(join(folder, part, name), { recursive: true });
      }
    }
  });
});

test('a private environment is hidden from other users, even if an earlier release created it', async () => {
  for (const scriptId of ['s1', undefined]) {
    const key = scriptId ?? 'shared';
    const path = catalog.path('environments', `${key}-1`);
    await mkdir(path);
    await chmod(path, 0o755);
    const entry = { directory: `${key}-1`, lock: '', sizeBytes: 1 };
    await catalog.publish(key, scriptId === undefined ? entry : { ...entry, scriptId });
  }
  await catalog.open();
  const modeOf = async (...names: string[]) => (await stat(join(folder, ...names))).mode & 0o777;
  expect(await modeOf('environments', 's1-1')).toBe(0o700);
  expect(await modeOf('environments', 'shared-1')).toBe(0o755);
  const parts = await Promise.all(
    ['environments', 'work', 'ready', 'uses', 'locks'].map((part) => modeOf(part)),
  );
  expect(parts).toEqual([0o711, 0o711, 0o700, 0o700, 0o700]);
});

describe('finishing a folder', () => {
  test('hides private folders from other users, and makes shared folders readable', async () => {
    const modes: number[] = [];
    for (const isPrivate of [true, false]) {
      const made = join(folder, `private-${isPrivate}`);
      await mkdir(made);
      await makeReadOnly(made, isPrivate);
      modes.push((await stat(made)).mode & 0o777);
    }
    expect(modes).toEqual([0o700, 0o755]);
  });

  test('does not follow links that untrusted code has created', async () => {
    const outside = join(folder, 'outside');
    await writeFile(outside, 'secret');
    await chmod(outside, 0o600);
    const inside = join(folder, 'inside');
    await mkdir(inside);
    await symlink(outside, join(inside, 'link'));
    await symlink(folder, join(inside, 'up'));
    await makeReadOnly(inside, false);
    await removeFolder(inside);
    expect(await ids('.')).toContain('outside');
    expect((await stat(outside)).mode & 0o777).toBe(0o600);
  });
});
