import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeFrame, TO_SUPERVISOR } from './frames.ts';
import { Bench, NAMESPACES } from './testing/bench.ts';

describe.each([
  { kind: 'with all available layers', without: [] },
  { kind: 'without namespaces', without: NAMESPACES },
])('a launcher $kind', ({ without }) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.open({ without });
  });
  afterAll(async () => {
    await bench.close();
    expect(bench.log).toEqual([]);
  });

  test('keeps data/ between runs, but no other part of the workspace', async () => {
    const dataFolder = join(bench.folder, 'data', 'kept');
    const first = await bench.run('data.py', [], { dataFolder });
    const second = await bench.run('data.py', [], { dataFolder });
    await second.run.closed;
    expect([first.stdout, second.stdout]).toEqual(['run 1 left over 0\n', 'run 2 left over 0\n']);
    expect((await readdir(join(bench.folder, 'runs'))).filter(isRun)).toEqual([]);
  });

  test("writes a version's file below data/ only if the file does not exist", async () => {
    const dataFolder = join(bench.folder, 'data', 'seeded');
    const source = join(bench.folder, 'seed');
    await writeFile(source, '5');
    const spec = bench.spec('data.py');
    const files = [...spec.files, { path: 'data/count', source, mode: 0o644 }];
    expect((await bench.run('data.py', [], { dataFolder, files })).stdout).toContain('run 6');
    expect((await bench.run('data.py', [], { dataFolder, files })).stdout).toContain('run 7');
  });

  test('does not follow links that a script has created', async () => {
    const dataFolder = join(bench.folder, 'data', 'planted');
    const victim = join(bench.folder, 'victim');
    await mkdir(victim);
    await writeFile(join(victim, 'precious'), 'precious');
    await chmod(join(victim, 'precious'), 0o640);
    const planted = await bench.run('plants.py', [victim], { dataFolder });
    expect(planted).toMatchObject({ stdout: 'planted\n', stderr: '' });
    await planted.run.closed;
    const spec = bench.spec('hello.py');
    const source = join(victim, 'precious');
    const files = [...spec.files, { path: 'data/seed/file', source, mode: 0o777 }];
    await expect(bench.run('hello.py', [], { dataFolder, files })).rejects.toMatchObject({
      stage: 'workspace',
    });
    expect(await readdir(victim)).toEqual(['precious']);
    expect(await readFile(join(victim, 'precious'), 'utf8')).toBe('precious');
    expect((await readdir(join(bench.folder, 'runs'))).filter(isRun)).toEqual([]);
  });

  test('refuses to use a link as a source file or data folder', async () => {
    await symlink('/etc/passwd', join(bench.folder, `source-${without.length}`));
    await symlink('/etc', join(bench.folder, 'data', 'link'));
    const spec = bench.spec('hello.py');
    const source = join(bench.folder, `source-${without.length}`);
    const linked = { ...spec, files: [{ path: 'main.py', source, mode: 0o644 }] };
    await expect(bench.start(linked)).rejects.toMatchObject({ stage: 'workspace' });
    const dataFolder = join(bench.folder, 'data', 'link');
    await expect(bench.run('hello.py', [], { dataFolder })).rejects.toMatchObject({
      stage: 'workspace',
    });
  });

  test.each(['../main.py', '/main.py', 'a//b', 'a/./b', 'a/..', ''])(
    'refuses the file path %j',
    async (path) => {
      const spec = bench.spec('hello.py');
      const files = spec.files.map((file) => ({ ...file, path }));
      await expect(bench.start({ ...spec, files })).rejects.toMatchObject({ stage: 'spec' });
    },
  );

  test('accepts connections only from its own runtime', async () => {
    const line = await readFile(`/proc/${bench.sandbox.launcherPid}/cmdline`, 'utf8');
    const socket = line.split('\0').find((word) => word.endsWith('.sock')) ?? '';
    const probe = [...encodeFrame(TO_SUPERVISOR.probe, {})];
    const program = `import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
try:
    connection.sendall(bytes(${JSON.stringify(probe)}))
    print(connection.recv(1000))
except OSError:
    print(b'')`;
    const asked = promisify(execFile)(bench.python.executable, ['-c', program, socket]);
    expect((await asked).stdout).toBe("b''\n");
    expect((await bench.sandbox.probe()).layers).not.toEqual([]);
  });

  test('gives the script no capabilities, new privileges or additional file descriptors', async () => {
    const { stdout, exit } = await bench.run('status.py');
    expect(exit).toMatchObject({ exitCode: 0 });
    const none = '0000000000000000';
    const status = JSON.parse(stdout.split('\n')[0] ?? '') as { capabilities: string[] };
    // The sandbox also clears the bounding set if it is permitted to do so.
    const bounding =
      bench.sandbox.layers.includes('user_namespace') || process.getuid?.() === 0
        ? none
        : expect.any(String);
    expect(status).toMatchObject({
      capabilities: [none, none, none, bounding],
      no_new_privs: '1',
      session: true,
      descriptors: [0, 1, 2, 3],
    });
  });
});

describe('a machine with mount and PID namespaces', () => {
  let bench: Bench;
  let available: Set<string>;
  beforeAll(async () => {
    bench = await Bench.open();
    const { layers } = await bench.sandbox.probe();
    available = new Set(layers.filter((layer) => layer.available).map((layer) => layer.name));
  });
  afterAll(() => bench.close());

  test('reports the layers that the probe detected', async ({ skip }) => {
    skip(!available.has('mount_namespace'), 'no mount namespace on this machine');
    const { run } = await bench.run('hello.py');
    expect(new Set(run.layers)).toEqual(available);
    expect(run.workspace).toBe('/workspaces/script-1');
  });

  test("shows only the run's processes, and protects the sandbox's processes", async ({ skip }) => {
    skip(!available.has('proc'), 'no /proc of its own on this machine');
    const { stdout } = await bench.run('status.py');
    const [report = '', ...opened] = stdout.trim().split('\n');
    expect(JSON.parse(report)).toMatchObject({ processes: [1, 2] });
    expect(opened).toEqual([]);
  });

  test('hides other workspaces, runs and hidden paths, and makes all other paths read-only', async ({
    skip,
  }) => {
    skip(!available.has('mount_namespace'), 'no mount namespace on this machine');
    const platform = join(bench.folder, 'platform');
    const environment = join(platform, 'environments', 'one');
    const built = join(platform, 'environments', 'two');
    await mkdir(environment, { recursive: true });
    await mkdir(built);
    await writeFile(join(platform, 'secret'), 'secret');
    await writeFile(join(environment, 'package'), 'package');
    await writeFile(join(bench.folder, 'hidden-file'), 'secret');
    const other = await bench.start(bench.spec('stubborn.py', ['polite'], { scriptId: 'other' }));
    const paths = ['/workspaces', '/workspaces/other', bench.folder, join(bench.folder, 'runs')];
    const hiddenFile = join(bench.folder, 'hidden-file');
    const shown = [
      hiddenFile,
      platform,
      join(platform, 'secret'),
      environment,
      built,
      '/usr',
      '/tmp',
      '/etc',
    ];
    const { stdout } = await bench.run(
      'looks.py',
      [...paths, ...shown, '/', '/proc/sys/kernel', '/usr/share'],
      {
        hidden: [platform, hiddenFile, '/usr/share'],
        readOnly: [...bench.python.prefixes, bench.folder, environment],
        readWrite: [built],
      },
    );
    other.run.kill();
    await other.outcome();
    const seen = JSON.parse(stdout) as Record<string, [string, boolean]>;
    expect(seen['/workspaces']).toEqual(['folder: script-1', false]);
    expect(seen['/workspaces/other']).toEqual(['FileNotFoundError', false]);
    expect(seen[bench.folder]?.[1]).toBe(false);
    expect(seen[platform]).toEqual(['folder: environments', false]);
    expect(seen[join(platform, 'secret')]).toEqual(['FileNotFoundError', false]);
    expect(seen[hiddenFile]).toEqual(['file: ', false]);
    expect(seen['/usr/share']?.[0]).toBe('folder: ');
    expect(seen[environment]).toEqual(['folder: package', false]);
    expect(seen[built]).toEqual(['folder: ', true]);
    expect(existsSync(join(built, 'probe-write'))).toBe(true);
    expect(seen['/tmp']?.[1]).toBe(true);
    for (const path of ['/', '/usr', '/etc', '/proc/sys/kernel'])
      expect(seen[path]?.[1]).toBe(false);
  });

  test('gives each run its own temporary folder', async ({ skip }) => {
    skip(!available.has('mount_namespace'), 'no mount namespace on this machine');
    const { stdout } = await bench.run('looks.py', ['/tmp', '/var/tmp']);
    expect(JSON.parse(stdout)).toEqual({
      '/tmp': ['folder: ', true],
      '/var/tmp': ['folder: probe-write', true],
    });
  });

  test('permits connections to a socket that is mounted for the run', async ({ skip }) => {
    skip(!available.has('mount_namespace'), 'no mount namespace on this machine');
    const path = join(bench.folder, 'sdk.sock');
    const server = createServer((socket) => socket.end('hello from outside')).listen(path);
    const { stdout } = await bench.run('connects.py', [path], { readWrite: [path] });
    server.close();
    expect(stdout).toBe('hello from outside\n');
  });
});

function isRun(name: string): boolean {
  return name.startsWith('run-');
}
