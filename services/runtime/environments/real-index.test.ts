/** Uses the machine's own package index, settings and installers, as a user would. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import { startPackageIndex } from '../../../scripts/testing/package-index.ts';
import { hasHashes, pinsOf } from './lock.ts';
import { findUv } from './testing/installers.ts';
import { reachIndex } from './testing/reach-index.ts';
import { expectForgeryRefused, expectSameAgain } from './testing/same-again.ts';
import { givenEnvironments, packages, readyOf } from './testing/fixture.ts';

const run = async (file: string, code: string) =>
  (await promisify(execFile)(file, ['-c', code], { env: {} })).stdout.trim();

describeWith(
  { service: 'package index', ...(await reachIndex()) },
  'the real package index',
  () => {
    test("serves a small package with the machine's pip settings", async () => {
      const given = await givenEnvironments({ variables: process.env });
      const result = readyOf(await given.ensure({ requirements: 'six==1.17.0\n' }));
      expect(pinsOf(result.lock)).toBe('six==1.17.0\n');
      expect(hasHashes(result.lock)).toBe(true);
      expect(await run(result.pythonPath, 'import six; print(six.__version__)')).toBe('1.17.0');
      await given.close();
    });
  },
);

const uv = await findUv();

describeWith({ service: 'uv', ...uv }, 'uv', () => {
  test('installs packages from the index that pip uses, with working commands', async () => {
    const index = await startPackageIndex(packages);
    const variables = { PATH: uv.found, PIP_INDEX_URL: index.url };
    const given = await givenEnvironments({ variables });
    const result = readyOf(await given.ensure({ requirements: 'polite-greeter==0.1\n' }));
    expect(given.lines[0]).toMatch(/uv \d/);
    expect(pinsOf(result.lock)).toBe('greeter==1.2.0\npolite-greeter==0.1\n');
    const greeting = await promisify(execFile)(`${result.environmentDir}/bin/greet`, { env: {} });
    expect(greeting.stdout).toBe('hello from greeter\n');
    await given.close();
    await index.close();
  });

  test('reinstalls the resolved versions, even if newer versions exist', async () => {
    await expectSameAgain({ PATH: uv.found }, /^uv /);
  });

  test('refuses changed files of a locked version', async () => {
    await expectForgeryRefused({ PATH: uv.found });
  });
});
