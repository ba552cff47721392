import { execFile } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const here = fileURLToPath(new URL('.', import.meta.url));
const OLD_NODE = '#!/bin/sh\necho v20.1.0\n';
const LOCK = JSON.stringify({
  lockfileVersion: 3,
  packages: { 'node_modules/a': { version: '1.0.0' } },
});

// A stub for npm that records its calls, then creates the files of an installation.
const NPM = `#!/bin/sh
[ "$1 $2" = "config get" ] && echo "$NPM_CACHE" && exit
echo "$*" >> "$ROOT/npm-calls"
[ -n "$NPM_FAILS" ] && echo "npm error $NPM_FAILS" && exit 1
case "$*" in
  ci*)
    rm -rf node_modules && mkdir -p node_modules/a
    case "$*" in *--omit=dev*) ;; *) cp package-lock.json node_modules/.package-lock.json ;; esac ;;
  "install --no-save"*) cp package-lock.json node_modules/.package-lock.json ;;
  install*) mkdir -p .toolchain/node_modules/node/bin && cp "$NODE_STUB" .toolchain/node_modules/node/bin/node ;;
  run*) mkdir -p web/build && echo built > web/build/index.html ;;
esac
`;

describe('the bootstrap', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'bootstrap-'));
    for (const folder of ['scripts/bootstrap', 'bin', 'cache', 'web/src']) {
      mkdirSync(join(root, folder), { recursive: true });
    }
    for (const file of ['bootstrap.sh', 'bootstrap/is-installed.ts']) {
      copyFileSync(join(here, file), join(root, 'scripts', file));
    }
    writeFileSync(join(root, 'package-lock.json'), LOCK);
    program('npm', NPM);
    program('sleep', '#!/bin/sh\nexec /bin/sleep 0.02\n');
    symlinkSync(process.execPath, join(root, 'bin/node'));
  });

  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  function program(name: string, source: string): void {
    rmSync(join(root, 'bin', name), { force: true });
    writeFileSync(join(root, 'bin', name), source);
    chmodSync(join(root, 'bin', name), 0o755);
  }

  function boot(args: readonly string[] = [], env: Record<string, string> = {}) {
    const path = [join(root, 'bin'), '/usr/bin', '/bin'].join(delimiter);
    const settings = { PATH: path, ROOT: root, NPM_CACHE: join(root, 'cache'), HOME: root, ...env };
    return new Promise<{ code: number; out: string; err: string }>((resolve) => {
      execFile(join(root, 'scripts/bootstrap.sh'), args, { env: settings }, (error, out, err) => {
        resolve({ code: Number(error?.code ?? 0), out, err });
      });
    });
  }

  function npmCalls(): string[] {
    const path = join(root, 'npm-calls');
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  }

  test('installs packages once, and later runs commands without printing anything', async () => {
    expect(await boot()).toEqual({
      code: 0,
      out: '',
      err: 'bootstrap: installing packages (npm ci)\n',
    });
    expect(await boot(['node', '-p', '1 + 1'])).toEqual({ code: 0, out: '2\n', err: '' });
    expect(npmCalls()).toHaveLength(1);
  });

  test('installs packages again when the lock file has changed', async () => {
    await boot();
    writeFileSync(join(root, 'package-lock.json'), LOCK.replace('1.0.0', '1.0.1'));
    await boot();
    expect(npmCalls()).toHaveLength(2);
  });

  test('accepts packages that a developer has installed', async () => {
    mkdirSync(join(root, 'node_modules/a'), { recursive: true });
    writeFileSync(join(root, 'node_modules/.package-lock.json'), LOCK);
    expect((await boot()).err).toBe('');
    expect(npmCalls()).toEqual([]);
  });

  test('can run concurrently, and installs the packages only once', async () => {
    const both = await Promise.all([boot(), boot(), boot()]);
    expect(both.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(npmCalls()).toHaveLength(1);
  });

  test('exits with the exit code of the command', async () => {
    expect((await boot(['node', '-e', 'process.exit(7)'])).code).toBe(7);
  });

  test('builds the dashboard when its source has changed', async () => {
    writeFileSync(join(root, 'web/package.json'), '{ "scripts": { "build": "vite build" } }');
    await boot(['--web']);
    await boot(['--web']);
    expect(npmCalls()).toHaveLength(2);
    writeFileSync(join(root, 'web/src/app.css'), 'p {}');
    expect((await boot(['--web'])).err).toBe('bootstrap: building the dashboard\n');
    expect(npmCalls()).toHaveLength(3);
  });

  test('starts the service first, and then builds the dashboard in the background', async () => {
    writeFileSync(join(root, 'web/package.json'), '{ "scripts": { "build": "vite build" } }');
    const untilBuilt = 'until [ -f .toolchain/web.sha256 ]; do sleep 0.05; done; echo built';
    const { out, err } = await boot(['--run', 'sh', '-c', untilBuilt]);
    expect(out).toBe('built\n');
    expect(err.split('\n').slice(0, -1)).toEqual([
      'bootstrap: installing packages (npm ci)',
      'bootstrap: installing the packages for the dashboard and the tests (npm install)',
      'bootstrap: building the dashboard',
    ]);
    expect(npmCalls().map((call) => call.split(' ').slice(0, 2).join(' '))).toEqual([
      'ci --omit=dev',
      'install --no-save',
      'run -w',
    ]);
    expect(await boot(['--run', 'true'])).toEqual({ code: 0, out: '', err: '' });
    expect(await boot(['--web'])).toEqual({ code: 0, out: '', err: '' });
  });

  test('starts the service if the dashboard cannot be built, and reports the failure', async () => {
    writeFileSync(join(root, 'web/package.json'), '{ "scripts": { "build": "vite build" } }');
    await boot(['--run', 'sh', '-c', 'until [ -f .toolchain/web.sha256 ]; do sleep 0.05; done']);
    writeFileSync(join(root, 'web/src/app.css'), 'p {}');
    const untilTried = 'until [ -s .toolchain/tried ]; do sleep 0.05; done; echo served';
    program('npm', '#!/bin/sh\necho no; echo tried > .toolchain/tried; exit 1\n');
    const { code, out, err } = await boot(['--run', 'sh', '-c', untilTried]);
    expect({ code, out }).toEqual({ code: 0, out: 'served\n' });
    expect(err).toContain('bootstrap: building the dashboard failed, see above');
  });

  test('installs its own Node.js if the version on the PATH is too old', async () => {
    program('node', OLD_NODE);
    const version = /node_version=(\S+)/u.exec(
      readFileSync(join(here, 'bootstrap.sh'), 'utf8'),
    )?.[1];
    const stub = join(root, 'new-node');
    writeFileSync(stub, `#!/bin/sh\n[ "$1" = --version ] && echo v${version}\n`);
    chmodSync(stub, 0o755);
    const { out, err } = await boot(['node', '--version'], { NODE_STUB: stub });
    expect(out).toBe(`v${version}\n`);
    expect(err.split('\n')[0]).toBe(
      `bootstrap: installing Node ${version} into .toolchain (the one on the PATH is v20.1.0)`,
    );
    expect(npmCalls()[0]).toContain(`node@${version}`);
  });

  test('installs its own Node.js and the packages concurrently at the first start', async () => {
    program('node', OLD_NODE);
    const version = /node_version=(\S+)/u.exec(
      readFileSync(join(here, 'bootstrap.sh'), 'utf8'),
    )?.[1];
    const stub = join(root, 'new-node');
    writeFileSync(stub, `#!/bin/sh\necho v${version}\n`);
    chmodSync(stub, 0o755);
    const { code, out } = await boot(['--run', 'node', '--version'], { NODE_STUB: stub });
    expect({ code, out }).toEqual({ code: 0, out: `v${version}\n` });
    const started = npmCalls().map((call) => call.split(' ')[0]);
    expect(new Set(started)).toEqual(new Set(['ci', 'install']));
    expect(started).toHaveLength(2);
  });

  test.each([
    ['ENOTFOUND', 'npm ci failed: the package registry cannot be reached'],
    ['EACCES', 'npm ci failed: a file is not writable by'],
    ['ENOSPC', 'npm ci failed: no space left on the disk'],
    ['EUSAGE', 'npm ci failed: package-lock.json does not fit package.json'],
  ])('reports the problem when npm fails with %s', async (NPM_FAILS, message) => {
    const { code, err } = await boot([], { NPM_FAILS });
    expect(code).toBe(1);
    expect(err).toContain(`bootstrap: ${message}`);
  });

  test('uses a separate cache if npm’s cache is not writable', async () => {
    const { code, err } = await boot([], { NPM_CACHE: '/dev/null/cache' });
    expect(code).toBe(0);
    expect(err).toContain("bootstrap: npm's cache /dev/null/cache is not writable");
  });
});
