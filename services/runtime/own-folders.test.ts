import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  hiddenSocketsParent,
  makeOwnFolder,
  removeLeftFolders,
  socketsParent,
} from './own-folders.ts';

const module = fileURLToPath(new URL('own-folders.ts', import.meta.url));

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'own-folders-'));
});
afterEach(() => rm(parent, { recursive: true, force: true }));

/** Starts another process that has its own folder with a file in it. */
async function another() {
  const program = `import { makeOwnFolder } from ${JSON.stringify(module)};
    console.log(await makeOwnFolder(${JSON.stringify(parent)}, 'orch-sdk'));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [path] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  await writeFile(join(path, 'socket'), '');
  return {
    path,
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

test('the folders of a killed process are removed, and those of a running process are kept', async () => {
  const own = await makeOwnFolder(parent, 'orch-sdk');
  const [killed, living] = await Promise.all([another(), another()]);
  await killed.kill();
  expect(await removeLeftFolders(parent)).toEqual([killed.path]);
  expect((await readdir(parent)).toSorted()).toEqual(
    [own, living.path].map((path) => basename(path)).toSorted(),
  );
  await living.kill();
  expect(await removeLeftFolders(parent)).toEqual([living.path]);
});

test('folders with an unknown owner are kept', async () => {
  const own = await makeOwnFolder(parent, 'orch-sdk');
  const gone = 'zzzzz';
  const [pid = '', ticks = '', boot = '', namespace = ''] =
    basename(own).split('-').at(-2)?.split('.') ?? [];
  const names = {
    'of another namespace': `orch-sdk-${gone}.${ticks}.${boot}.1-abcdef`,
    'without an owner': 'orch-sdk-abcdef',
    'of another user': 'another-user',
  };
  for (const name of Object.values(names)) await mkdir(join(parent, name));
  await symlink(tmpdir(), join(parent, `orch-sdk-${gone}.1.${boot}.${namespace}-linked`));
  expect(await removeLeftFolders(parent)).toEqual([]);

  const left = {
    'of another start of the machine': `orch-sdk-${pid}.${ticks}.00000000.${namespace}-abcdef`,
    'of a process whose number is used again': `orch-sdk-${pid}.1.${boot}.${namespace}-abcdef`,
  };
  for (const name of Object.values(left)) await mkdir(join(parent, name));
  const removed = await removeLeftFolders(parent);
  expect(removed.map((path) => basename(path)).toSorted()).toEqual(Object.values(left).toSorted());
});

test.each([
  ['writes to', 'ENOTEMPTY', rmdir],
  ['removes', 'ENOENT', (path: string) => rm(path, { recursive: true }).then(() => rmdir(path))],
])(
  'removing leftovers tolerates a folder that another process %s at the same time (%s)',
  async (_, code, remove) => {
    const path = join(parent, 'orch-sdk-1.1.00000000.1-abcdef');
    const fill = async () => {
      await mkdir(path);
      await writeFile(join(path, 'socket'), '');
    };
    await fill();
    await expect(remove(path)).rejects.toMatchObject({ code });
    await rm(path, { recursive: true, force: true });
    await fill();
    expect(await removeLeftFolders(parent, remove)).toEqual([]);
  },
);

test('sockets are never placed in a folder that every script can list', () => {
  expect(hiddenSocketsParent(['pid_namespace', 'landlock'])).toBe(tmpdir());
  expect(hiddenSocketsParent(['mount_namespace'])).toBe(socketsParent);
});
