/** Tests the SDK after installation outside the platform. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { version } from '#services/shared/version.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

const run = promisify(execFile);
const name = `script_orchestration_sdk-${version}-py3-none-any.whl`;

let platform: TestBackend;
let folder: string;
beforeAll(async () => {
  platform = await startTestBackend();
  folder = await mkdtemp(join(tmpdir(), 'orch-sdk-test-'));
});
afterAll(async () => {
  await platform.close();
  await rm(folder, { recursive: true });
});

describe('an anonymous client', () => {
  test('downloads the same wheel each time, and no other file', async () => {
    const [one, other] = await Promise.all(
      [name, name].map(async (file) => await fetch(`${platform.origin}/sdk/${file}`)),
    );
    expect(one?.status).toBe(200);
    expect(await one?.bytes()).toEqual(await other?.bytes());
    for (const path of [
      'script_orchestration_sdk-0.0.1-py3-none-any.whl',
      '..%2fpackage.json',
      '',
    ]) {
      expect((await fetch(`${platform.origin}/sdk/${path}`)).status, path).toBe(404);
    }
  });

  test('finds the wheel with its hash in the index', async () => {
    const projects = await (await fetch(`${platform.origin}/sdk/simple/`)).text();
    expect(projects).toContain('href="/sdk/simple/script-orchestration-sdk/"');
    const files = await (
      await fetch(`${platform.origin}/sdk/simple/script-orchestration-sdk/`)
    ).text();
    expect(files).toMatch(new RegExp(`href="/sdk/${name}#sha256=[0-9a-f]{64}"`));
  });
});

/** Finds out whether this machine can create an environment with pip. */
async function findPip() {
  try {
    await run('python3', ['-m', 'pip', '--version']);
    await run('python3', ['-c', 'import venv']);
    return { found: 'here', reason: '' };
  } catch {
    return { found: undefined, reason: 'python3 has no pip or venv' };
  }
}

const script = `
from orchestrator import NotOnPlatform, Platform
platform = Platform()
platform.state.set("count", platform.state.get("count", 0) + 1)
platform.output({"count": platform.state.get("count"), "token": platform.secrets.get("TOKEN")})
try:
    platform.db.query("SELECT 1")
except NotOnPlatform as error:
    print(error)
import orchestrator, os
print(os.path.exists(os.path.join(os.path.dirname(orchestrator.__file__), "py.typed")))
`;

describeWith({ service: 'pip', ...(await findPip()) }, 'pip', () => {
  test('pip installs the SDK from the index and from its URL, and the SDK works in local mode', async () => {
    const home = join(folder, 'environment');
    await run('python3', ['-m', 'venv', '--without-pip', home]);
    const into = ['-m', 'pip', '--python', join(home, 'bin', 'python')];
    const pip = async (...args: string[]) => {
      const options = ['--isolated', '--disable-pip-version-check', '--no-cache-dir'];
      return (await run('python3', [...into, 'install', ...options, ...args])).stdout;
    };
    const index = ['--index-url', `${platform.origin}/sdk/simple/`];
    expect(await pip(...index, 'script-orchestration-sdk')).toContain(
      `installed script-orchestration-sdk-${version}`,
    );
    const python = async (code: string) =>
      await run(join(home, 'bin', 'python'), ['-c', code], {
        cwd: folder,
        env: { TOKEN: 'secret' },
      });
    const { stdout, stderr } = await python(script);
    expect(stdout).toBe('db.query is not available in local mode\nTrue\n');
    expect(stderr).toContain('local mode');
    expect(stderr).toContain('output {"count": 1, "token": "secret"}');
    const address = `${platform.origin}/sdk/${name}`;
    expect(await pip('--force-reinstall', address)).toContain(
      `installed script-orchestration-sdk-${version}`,
    );
    expect((await python(script)).stderr).toContain('"count": 2');
    const checked = await run('python3', [...into, 'check']);
    expect(checked.stdout).toContain('No broken requirements');
  }, 180_000);
});
