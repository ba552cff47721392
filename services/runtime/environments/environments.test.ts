import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  sourcePackage,
  startPackageIndex,
  type PackageIndex,
} from '../../../scripts/testing/package-index.ts';
import { pinsOf } from './lock.ts';
import { givenEnvironments, packages, python, readyOf } from './testing/fixture.ts';

type Given = Awaited<ReturnType<typeof givenEnvironments>>;

const run = async (file: string, ...args: string[]) =>
  (await promisify(execFile)(file, args, { env: {}, cwd: '/' })).stdout.trim();
const importing = (code: string) => ['-c', `${code}`];

let index: PackageIndex;
let given: Given;

beforeAll(async () => {
  index = await startPackageIndex(packages);
});
afterAll(() => index.close());
beforeEach(async () => {
  given = await givenEnvironments({
    variables: { PATH: '/usr/bin:/bin', PIP_INDEX_URL: index.url },
  });
});
afterEach(() => given.close());

const filesForPackage = (name: string) =>
  index.requests.filter((path) => path.startsWith(`/files/${name}`)).length;

/** Returns paths that are writable, or that some users cannot read. */
async function writableIn(folder: string): Promise<string[]> {
  const paths = (await readdir(folder, { recursive: true })).map((name) => join(folder, name));
  const modes = await Promise.all(paths.map(async (path) => ({ path, stats: await lstat(path) })));
  const wrong = modes.filter(({ stats }) => stats.isFile() && (stats.mode & 0o666) !== 0o444);
  return wrong.map(({ path }) => path);
}

/** Resolves when a line that contains `part` is logged. */
function hearing(part: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const lines: string[] = [];
  const onLog = (line: string) => {
    lines.push(line);
    if (line.includes(part)) resolve();
  };
  return { heard: promise, onLog, lines };
}

describe('a script without packages', () => {
  test('gets a virtual environment immediately, without a build', async () => {
    const result = readyOf(await given.ensure({ requirements: '# nothing yet\n' }));
    expect(result).toMatchObject({ built: true, lock: '' });
    expect(given.runner.commands).toEqual([]);
    const answer = await run(
      result.pythonPath,
      ...importing('import sys; print(sys.prefix, sys.base_prefix != sys.prefix, sys.path[-1])'),
    );
    const packagesFolder = answer.split(' ')[2];
    expect(answer).toBe(`${result.environmentDir} True ${packagesFolder}`);
    expect(packagesFolder).toMatch(`${result.environmentDir}/lib/python3`);
  });

  test('shares its environment with all other scripts without packages', async () => {
    const first = readyOf(await given.ensure());
    const second = readyOf(await given.ensure({ scriptId: 's2', requirements: '\n' }));
    expect(second).toMatchObject({ built: false, buildMs: 0 });
    expect(second.environmentDir).toBe(first.environmentDir);
  });
});

describe('requirements', () => {
  test('install packages with their dependencies and working commands', async () => {
    const result = readyOf(await given.ensure({ requirements: 'polite-greeter==0.1\n' }));
    expect(result.built).toBe(true);
    expect(pinsOf(result.lock)).toBe('greeter==1.2.0\npolite-greeter==0.1\n');
    const code = 'import polite_greeter; polite_greeter.main()';
    expect(await run(result.pythonPath, ...importing(code))).toBe('hello from greeter');
    expect(await run(join(result.environmentDir, 'bin', 'greet'))).toBe('hello from greeter');
    expect(await writableIn(result.environmentDir)).toEqual([]);
    const lock = await readFile(join(result.environmentDir, 'orchestrator-lock.txt'), 'utf8');
    expect(lock).toBe(result.lock);
    expect(given.lines.join('\n')).toMatch(/Python 3\.\d+\.\d+, pip \d+[\s\S]*Successfully/);
  });

  test('are built only once for all scripts with equal requirements, and requested from the index only once', async () => {
    const first = readyOf(await given.ensure({ requirements: 'greeter == 1.2.0' }));
    const before = index.requests.length;
    const second = readyOf(
      await given.ensure({ scriptId: 's2', requirements: '# me too\ngreeter  ==  1.2.0\n' }),
    );
    expect(second).toMatchObject({ built: false, lock: first.lock });
    expect(second.environmentDir).toBe(first.environmentDir);
    expect(index.requests.length).toBe(before);
  });

  test('are built once for twenty concurrent first runs, which all receive the build output', async () => {
    const before = filesForPackage('greeter');
    const logs = Array.from({ length: 20 }, () => hearing('Successfully installed'));
    const results = await Promise.all(
      logs.map(({ onLog }, number) =>
        given.ensure({ scriptId: `s${number}`, requirements: 'greeter', onLog }),
      ),
    );
    expect(new Set(results.map((result) => readyOf(result).environmentDir)).size).toBe(1);
    expect(given.runner.commands).toHaveLength(1);
    expect(filesForPackage('greeter') - before).toBe(1);
    await Promise.all(logs.map(({ heard }) => heard));
    for (const { lines } of logs) expect(lines).toEqual(logs[0]?.lines);
  });

  test('are not evicted before their environment is released', async () => {
    const small = await givenEnvironments({
      variables: { PATH: '/usr/bin:/bin', PIP_INDEX_URL: index.url },
      maxEnvironments: 1,
    });
    const used = readyOf(await small.ensure({ requirements: 'greeter' }));
    const later = readyOf(await small.ensure({ requirements: '# none' }));
    expect(await run(used.pythonPath, ...importing('import greeter; greeter.main()'))).toBe(
      'hello from greeter',
    );
    used.release();
    later.release();
    await small.environments.tidy();
    const kept = await readdir(join(small.folder, 'environments'));
    expect(kept).toEqual([basename(later.environmentDir)]);
    await small.close();
  });

  test('produce output while the build is still running', async () => {
    const letGo = index.hold();
    const log = hearing('Looking in indexes');
    const building = given.ensure({ requirements: 'greeter', onLog: log.onLog });
    await log.heard;
    letGo();
    expect((await building).status).toBe('ready');
  });

  test("get a private environment if they name a package from the script's own files", async () => {
    const folder = await mkdtemp(join(tmpdir(), 'project-'));
    await mkdir(join(folder, 'own'));
    for (const { path, content } of ownPackage) await writeFile(join(folder, path), content);
    const request = { requirements: './own\ngreeter\n', project: { folder, version: '1' } };
    const first = readyOf(await given.ensure(request));
    expect(first.lock).toBe('greeter==1.2.0\nown==3.0\n');
    const again = readyOf(await given.ensure(request));
    expect(again).toMatchObject({ built: false, environmentDir: first.environmentDir });
    const caches = given.runner.commands.map((command) => command.writable[2]);
    expect(caches).toEqual([join(given.folder, 'cache', 's1')]);
    await rm(folder, { recursive: true });
  });
});

const ownBackend = `
import os, zipfile
def build_wheel(directory, *args, **kwargs):
    name = "own-3.0-py3-none-any.whl"
    info = "own-3.0.dist-info"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        wheel.writestr("own.py", "")
        wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: own\\nVersion: 3.0\\n")
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "/RECORD", "")
    return name
`;
const ownPackage = [
  {
    path: 'own/pyproject.toml',
    content: '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
  },
  { path: 'own/backend.py', content: ownBackend },
];

describe('requirements that cannot be installed', () => {
  const leftOver = async () => [
    ...(await readdir(join(given.folder, 'environments'))),
    ...(await readdir(join(given.folder, 'work'))),
    ...(await readdir(join(given.folder, 'uses'))),
    ...(await readdir(join(given.folder, 'locks'))),
  ];

  test("fail with the installer's error, and leave no files behind", async () => {
    const result = await given.ensure({ requirements: 'broken' });
    expect(result).toMatchObject({ status: 'failed' });
    expect(JSON.stringify(result)).toContain('no compiler for broken');
    expect(given.lines.join('\n')).toContain('no compiler for broken');
    expect(await leftOver()).toEqual([]);
  });

  test('fail with an error that names the unknown package', async () => {
    const result = await given.ensure({ requirements: 'greeter\nno-such-package-here' });
    expect(JSON.stringify(result)).toMatch(/no-such-package-here.*failed with exit code 1\./);
  });

  test('fail when the build exceeds its time limit, and leave no build processes behind', async () => {
    const slow = await givenEnvironments({
      variables: { PATH: '/usr/bin:/bin', PIP_INDEX_URL: index.url },
      buildTimeoutMs: 1_500,
    });
    const letGo = index.hold();
    const result = await slow.ensure({ requirements: 'greeter' });
    letGo();
    expect(result).toEqual({
      status: 'failed',
      detail: 'The environment was not built within 1.5 seconds.',
    });
    expect(await readdir(join(slow.folder, 'environments'))).toEqual([]);
    await slow.close();
  });

  test('are no longer built after their only caller has canceled', async () => {
    const letGo = index.hold();
    const log = hearing('Looking in indexes');
    const abort = new AbortController();
    const request = { requirements: 'greeter', onLog: log.onLog, signal: abort.signal };
    const building = given.ensure(request);
    await log.heard;
    abort.abort(new Error('stopped'));
    await expect(building).rejects.toThrow('stopped');
    await given.environments.settle();
    letGo();
    expect(await leftOver()).toEqual([]);
    expect((await given.ensure({ requirements: 'greeter' })).status).toBe('ready');
  });

  test('are still built after one of two callers has canceled', async () => {
    const letGo = index.hold();
    const log = hearing('Looking in indexes');
    const abort = new AbortController();
    const first = given.ensure({ requirements: 'greeter', signal: abort.signal });
    const second = given.ensure({ requirements: 'greeter', onLog: log.onLog });
    await log.heard;
    abort.abort(new Error('stopped'));
    await expect(first).rejects.toThrow('stopped');
    letGo();
    expect((await second).status).toBe('ready');
    expect(given.runner.commands).toHaveLength(1);
  });
});

describe('several processes on one host', () => {
  const program = fileURLToPath(new URL('testing/another-process.ts', import.meta.url));
  const start = () =>
    spawn(process.execPath, [program, given.folder, index.url, python.executable, 'greeter'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  test('build an environment only once for two concurrent first runs', async () => {
    const before = filesForPackage('greeter');
    const outcomes = await Promise.all([start(), start()].map((child) => text(child.stdout)));
    const results = outcomes.map((json) => JSON.parse(json) as { environmentDir: string });
    expect(results[0]?.environmentDir).toBeDefined();
    expect(results[0]?.environmentDir).toBe(results[1]?.environmentDir);
    expect(filesForPackage('greeter') - before).toBe(1);
  });

  test('never leave an incomplete environment marked as finished when killed during a build', async () => {
    const letGo = index.hold();
    const child = start();
    for await (const chunk of child.stderr) {
      if (String(chunk).includes('Looking in indexes')) break;
    }
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    letGo();
    expect(await readdir(join(given.folder, 'environments'))).toHaveLength(1);
    expect(await readdir(join(given.folder, 'ready'))).toEqual([]);

    const result = readyOf(await given.ensure({ requirements: 'greeter' }));
    expect(result.built).toBe(true);
    result.release();
    const reopened = await givenEnvironments({ folder: given.folder });
    const kept = await readdir(join(given.folder, 'environments'));
    expect(kept.map((name) => join(given.folder, 'environments', name))).toEqual([
      result.environmentDir,
    ]);
    expect(await readdir(join(given.folder, 'work'))).toEqual([]);
    expect(reopened.problems).toEqual([]);
  });
});

test('a build can read the package index settings, but no other platform settings', async () => {
  const probe = await startPackageIndex([
    sourcePackage('probe', '1.0', 'import os\nraise SystemExit(sorted(os.environ))\n'),
  ]);
  const own = await givenEnvironments({
    variables: {
      PATH: '/usr/bin:/bin',
      PIP_INDEX_URL: probe.url,
      PIP_TARGET: '/tmp/elsewhere',
      ORCH_DATABASE_URL: 'secret',
      SECRET_MASTER_KEY: 'secret',
    },
  });
  await own.ensure({ requirements: 'probe' });
  expect(Object.keys(own.runner.commands[0]?.env ?? {}).toSorted()).toEqual([
    'HOME',
    'LANG',
    'NO_COLOR',
    'PATH',
    'PIP_INDEX_URL',
    'TMPDIR',
  ]);
  expect(own.lines.join('\n')).toContain('PIP_INDEX_URL');
  expect(own.lines.join('\n')).not.toMatch(/SECRET_MASTER_KEY|ORCH_/);
  await own.close();
  await probe.close();
});
