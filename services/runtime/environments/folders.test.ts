import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findPython } from '../sandbox/python.ts';
import { makeReadOnly, removeFolder } from './folders.ts';

const ROUNDS = 300;
/** A program that constantly replaces folders in `top` with links to `victim`, and restores them. */
const SWAPPING = `import ctypes, os, sys
top, victim = sys.argv[1:3]
libc = ctypes.CDLL(None)
print("swapping", flush=True)
while True:
    try:
        for number in range(4):
            os.makedirs(f"{top}/folder{number}", exist_ok=True)
            # Through a link, that of the victim, which has it already.
            open(f"{top}/folder{number}/file0", "a").close()
            if not os.path.islink(f"{top}/link{number}"):
                os.symlink(victim, f"{top}/link{number}")
        for _ in range(60):
            for number in range(4):
                paths = (f"{top}/folder{number}".encode(), f"{top}/link{number}".encode())
                libc.renameat2(-100, paths[0], -100, paths[1], 2)
    except OSError:
        pass
`;

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'folders-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

test('removing a folder does not follow a link that replaces it during the removal', async () => {
  const victim = join(base, 'victim');
  await mkdir(victim);
  const files = Array.from({ length: 20 }, (_, number) => `file${number}`);
  for (const name of files) await writeFile(join(victim, name), '');
  const { executable } = await findPython({ path: process.env['PATH'] ?? '' });
  const top = join(base, 'top');
  const foreign = spawn(executable, ['-c', SWAPPING, top, victim], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(foreign.stdout, 'data');
  for (let round = 0; round < ROUNDS; round += 1) {
    // Removal may fail while the program creates files.
    await removeFolder(top).catch(() => undefined);
  }
  foreign.kill('SIGKILL');
  await once(foreign, 'exit');
  expect((await readdir(victim)).toSorted()).toEqual(files.toSorted());
});

test('removing a folder succeeds for deep and unreadable folders, and does not follow links', async () => {
  const top = join(base, 'top');
  const deep = join(top, ...Array.from({ length: 200 }, () => 'below'));
  await mkdir(deep, { recursive: true });
  await writeFile(join(deep, 'file'), '', { mode: 0o400 });
  await mkdir(join(top, 'closed', 'inner'), { recursive: true });
  await writeFile(join(top, 'closed', 'inner', 'file'), '');
  await chmod(join(top, 'closed', 'inner'), 0o000);
  await chmod(join(top, 'closed'), 0o500);
  const kept = join(base, 'kept');
  await mkdir(kept);
  await symlink(kept, join(base, 'link'));
  await removeFolder(top);
  await removeFolder(join(base, 'link'));
  await removeFolder(join(base, 'never there'));
  expect(await readdir(base)).toEqual(['kept']);
});

test('making a folder read-only removes its pipes, sockets and devices', async () => {
  const file = join(base, 'file');
  await writeFile(file, '');
  await promisify(execFile)('mkfifo', [join(base, 'pipe')]);
  await symlink('/dev/zero', join(base, 'link'));
  await makeReadOnly(base, false);
  expect((await readdir(base)).toSorted()).toEqual(['file', 'link']);
});
