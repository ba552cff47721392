import { execFile } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import { systemPython } from './testing/bench.ts';

const SUITE = fileURLToPath(new URL('./testing/run-suite.ts', import.meta.url));
const SUITES = ['containment', 'attacks', 'system-calls', 'programs', 'limits'];
// A user ID that no machine uses.
const UNKNOWN_USER = 54_321;
const TIMEOUT_MS = 480_000;

const run = promisify(execFile);
const as = { uid: UNKNOWN_USER, gid: UNKNOWN_USER };

/** Returns the reason why such a user cannot run the tests here, or `undefined` if the user can. */
async function hindrance(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'the tests run as an ordinary user anyway';
  if ((await systemPython()) === undefined) return 'there is no Python in /usr/bin';
  const readable = run(process.execPath, ['--check', SUITE], as);
  return await readable.then(
    () => undefined,
    () => 'its folder is closed to other users',
  );
}

const reason = await hindrance();

describeWith(
  {
    service: 'another user',
    found: reason === undefined ? 'here' : undefined,
    reason: reason ?? '',
  },
  'a launcher of an ordinary user',
  () => {
    test(
      'a launcher that runs as an ordinary user contains scripts as well as one that runs as root',
      async () => {
        const home = await mkdtemp(join(tmpdir(), 'orch-ordinary-'));
        await chown(home, UNKNOWN_USER, UNKNOWN_USER);
        const python = (await systemPython()) ?? '';
        const env = {
          PATH: '/usr/bin:/bin',
          HOME: home,
          TMPDIR: home,
          ORCH_PYTHON: python,
          NODE_COMPILE_CACHE: join(home, 'compiled'),
        };
        const { stdout } = await run(process.execPath, [SUITE, ...SUITES], { ...as, env });
        await rm(home, { recursive: true, force: true });
        const [layers = ''] = /active layers: .*/.exec(stdout) ?? [];
        process.stdout.write(`as an ordinary user, ${layers}\n`);
        expect(stdout).toMatch(/Tests .*passed/);
        expect(stdout).not.toMatch(/Tests .*failed/);
        expect(layers).toContain('seccomp');
      },
      TIMEOUT_MS,
    );
  },
);
