import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import { Bench, NAMESPACES, systemPython } from './testing/bench.ts';
import { user0 } from './testing/machine.ts';

const read = promisify(execFile);
const UNKNOWN_USER = 65_534;
const FIRST_USER = 1_879_048_192;

describeWith(user0, 'a launcher of user 0', () => {
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

  test('each script has its own user, which is the same in every run', async () => {
    const [one, another] = [await runAs('one'), await runAs('another')];
    expect(one.uid).toBeGreaterThanOrEqual(FIRST_USER);
    expect(one.gid).toBe(one.uid);
    expect(another.uid).not.toBe(one.uid);
    expect(await runAs('one')).toEqual({ ...one, stdout: 'run 2 left over 0\n' });
  });

  test('a script does not get the user ID of another script', async () => {
    const claims = join(bench.folder, 'runs', '.users');
    const { uid } = await runAs('first');
    await writeFile(join(claims, String(uid)), 'another script');
    expect((await runAs('first')).uid).toBe(uid + 1);
    expect(await readFile(join(claims, String(uid + 1)), 'utf8')).toBe('first');
    expect((await readdir(claims)).every((name) => /^\d+$/.test(name))).toBe(true);
  });

  test('data that scripts wrote as root in earlier releases remains usable', async () => {
    const dataFolder = join(bench.folder, 'data', 'old');
    await mkdir(join(dataFolder, 'folder'), { recursive: true, mode: 0o700 });
    await writeFile(join(dataFolder, 'count'), '41', { mode: 0o600 });
    await writeFile(join(dataFolder, 'folder', 'inner'), '', { mode: 0o600 });
    const { uid, stdout } = await runAs('old');
    expect(stdout).toBe('run 42 left over 0\n');
    expect((await stat(join(dataFolder, 'folder', 'inner'))).uid).toBe(uid);
  });

  test.each([false, true])(
    'scripts that would run as root on the host are refused (lenient mode: %s)',
    async (lenient) => {
      const closed = join(bench.folder, `closed-${lenient}`);
      await mkdir(closed, { mode: 0o700 });
      const without = NAMESPACES;
      const shut = await Bench.open({ without, lenient, runsFolder: join(closed, 'runs') });
      await expect(shut.run('hello.py')).rejects.toMatchObject({
        stage: 'layers',
        message: expect.stringMatching(/root on this machine.*\/\.root.*Start the service as/),
      });
      await shut.close();
    },
  );

  test('a script has its own user even in a user namespace that forbids nested user namespaces', async () => {
    const wrapper = join(bench.folder, 'without-sys-admin');
    const python = (await systemPython()) ?? bench.python.executable;
    const command = `setpriv --bounding-set=-sys_admin ${python} "$@"`;
    await writeFile(wrapper, `#!/bin/sh\nexec ${command}\n`);
    await chmod(wrapper, 0o755);
    const nested = await Bench.open({ python: wrapper });
    const dataFolder = join(nested.folder, 'data', 'nested');
    const { run } = await nested.run('data.py', [], { dataFolder });
    const { uid } = await stat(join(dataFolder, 'count'));
    await nested.close();
    expect(run.layers).toContain('user_namespace');
    expect(run.layers).toContain('script_user');
    expect(uid).toBeGreaterThanOrEqual(FIRST_USER);
  });

  test.each([
    { kind: 'with all available layers', without: [] },
    { kind: 'without namespaces', without: NAMESPACES },
  ])('only the run can read its private paths $kind', async ({ without }) => {
    const place = await Bench.open({ without });
    const folder = join(place.folder, `private-${without.length}`);
    const [inner, payload] = [join(folder, 'source.py'), join(place.folder, 'payload')];
    await mkdir(folder, { mode: 0o700 });
    await writeFile(inner, 'mine', { mode: 0o444 });
    await writeFile(payload, 'mine', { mode: 0o400 });
    const privatePaths = [folder, payload];
    const readOnly = [...place.python.prefixes, ...privatePaths];
    const { stdout, stderr } = await place.run('reads.py', [inner, payload], {
      readOnly,
      privatePaths,
    });
    expect([stdout, stderr]).toEqual(['mine\nmine\n', '']);
    for (const path of [inner, payload]) {
      const reading = read('cat', [path], { uid: UNKNOWN_USER, gid: UNKNOWN_USER, cwd: '/' });
      await expect(reading).rejects.toThrow('Permission denied');
    }
    await place.close();
  });

  test("the workspace and writable folders belong to the script's user", async () => {
    const writable = join(bench.folder, 'writable');
    await mkdir(join(writable, 'below'), { recursive: true });
    const { stdout } = await bench.run('looks.py', ['.', 'data', writable, `${writable}/below`], {
      readWrite: [writable],
    });
    const seen = JSON.parse(stdout) as Record<string, [string, boolean]>;
    expect(Object.values(seen).map(([, mayWrite]) => mayWrite)).toEqual([true, true, true, true]);
  });
});
