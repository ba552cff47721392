import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import { Bench } from './testing/bench.ts';

const FIRST_USER = 1_879_048_192;

describeWith(
  {
    service: 'user 0',
    found: process.getuid?.() === 0 ? 'here' : undefined,
    reason: 'the tests run as an ordinary user',
  },
  'given a launcher of user 0',
  () => {
    let bench: Bench;
    beforeAll(async () => {
      bench = await Bench.open();
    });
    afterAll(() => bench.close());

    async function runAs(user: string) {
      const dataFolder = join(bench.folder, 'data', user);
      const outcome = await bench.run('data.py', [], { user, scriptId: user, dataFolder });
      const { uid, gid } = await stat(join(dataFolder, 'count'));
      return { uid, gid, dataFolder, stdout: outcome.stdout };
    }

    test('each script has a user of its own, the same in every run', async () => {
      const [one, another] = [await runAs('one'), await runAs('another')];
      expect(one.uid).toBeGreaterThanOrEqual(FIRST_USER);
      expect(one.gid).toBe(one.uid);
      expect(another.uid).not.toBe(one.uid);
      expect(await runAs('one')).toEqual({ ...one, stdout: 'run 2 left over 0\n' });
    });

    test('a number that another script has is not given out again', async () => {
      const claims = join(bench.folder, 'runs', '.users');
      const { uid } = await runAs('first');
      await writeFile(join(claims, String(uid)), 'somebody else');
      expect((await runAs('first')).uid).toBe(uid + 1);
      expect(await readFile(join(claims, String(uid + 1)), 'utf8')).toBe('first');
      expect((await readdir(claims)).every((name) => /^\d+$/.test(name))).toBe(true);
    });

    test('what was kept when scripts still ran as user 0 goes on working', async () => {
      const dataFolder = join(bench.folder, 'data', 'old');
      await mkdir(join(dataFolder, 'folder'), { recursive: true, mode: 0o700 });
      await writeFile(join(dataFolder, 'count'), '41', { mode: 0o600 });
      await writeFile(join(dataFolder, 'folder', 'inner'), '', { mode: 0o600 });
      const { uid, stdout } = await runAs('old');
      expect(stdout).toBe('run 42 left over 0\n');
      expect((await stat(join(dataFolder, 'folder', 'inner'))).uid).toBe(uid);
    });

    test('files of the workspace are that user’s, and so is what a run may write to', async () => {
      const writable = join(bench.folder, 'writable');
      await mkdir(join(writable, 'below'), { recursive: true });
      const { stdout } = await bench.run('looks.py', ['.', 'data', writable, `${writable}/below`], {
        readWrite: [writable],
      });
      const seen = JSON.parse(stdout) as Record<string, [string, boolean]>;
      expect(Object.values(seen).map(([, mayWrite]) => mayWrite)).toEqual([true, true, true, true]);
    });
  },
);
