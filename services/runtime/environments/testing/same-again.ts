/** Checks, for any installer, that locked packages are installed again. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { wheel, type PackageFile } from '../../../../scripts/testing/package-index.ts';
import { givenEnvironments, readyOf } from './fixture.ts';

/** Returns the package `greeter`, which prints its version. */
export function greeter(version: string, words = version): PackageFile {
  const files = { 'greeter.py': `print(${JSON.stringify(words)})\n` };
  return wheel({ name: 'greeter', version, files });
}

/** A package that depends on any version of `greeter`. */
export const polite = wheel({
  name: 'polite_greeter',
  version: '0.1',
  files: { 'polite_greeter.py': 'import greeter\n' },
  requires: ['greeter'],
});

/** Creates a folder of packages for `--find-links`. */
export async function givenPackages(...files: readonly PackageFile[]) {
  const folder = await mkdtemp(join(tmpdir(), 'packages-'));
  const add = async ({ fileName, content }: PackageFile) =>
    await writeFile(join(folder, fileName), content);
  for (const file of files) await add(file);
  const variables = { PIP_NO_INDEX: '1', PIP_FIND_LINKS: folder, UV_OFFLINE: '1' };
  return { add, variables, close: () => rm(folder, { recursive: true, force: true }) };
}

/** Returns the output of `polite_greeter` in an environment. */
export async function words(pythonPath: string): Promise<string> {
  const say = promisify(execFile)(pythonPath, ['-c', 'import polite_greeter'], { env: {} });
  return (await say).stdout.trim();
}

const requirements = 'polite-greeter\n';

type Variables = Readonly<Record<string, string | undefined>>;

/** Installs the requirements on two hosts, and checks that both get the same packages. Newer packages become available
 *  after the first installation.
 *  @param installer the expected name in the log */
export async function expectSameAgain(variables: Variables, installer: RegExp): Promise<void> {
  const offered = await givenPackages(greeter('1.0'), polite);
  const all = { ...variables, ...offered.variables };
  const [first, later] = [
    await givenEnvironments({ variables: all }),
    await givenEnvironments({ variables: all }),
  ];
  const chosen = readyOf(await first.ensure({ requirements }));
  expect(first.lines[0]?.split(', ')[1]).toMatch(installer);
  expect(chosen.lock).toContain(`greeter==1.0 --hash=sha256:${hashOf('1.0')}\n`);
  await offered.add(greeter('2.0'));
  const again = readyOf(await later.ensure({ requirements, lock: chosen.lock }));
  expect(again.lock).toBe(chosen.lock);
  expect(await words(again.pythonPath)).toBe('1.0');
  for (const one of [first, later]) await one.close();
  await offered.close();
}

/** Checks that a package with the same name and version but different content is refused. */
export async function expectForgeryRefused(variables: Variables): Promise<void> {
  const offered = await givenPackages(greeter('1.0', 'forged'), polite);
  const given = await givenEnvironments({ variables: { ...variables, ...offered.variables } });
  const polites = createHash('sha256').update(polite.content).digest('hex');
  const lock = [
    `greeter==1.0 --hash=sha256:${hashOf('1.0')}`,
    `polite-greeter==0.1 --hash=sha256:${polites}`,
  ];
  const refused = await given.ensure({ requirements, lock: `${lock.join('\n')}\n` });
  expect(refused.status).toBe('failed');
  expect(JSON.stringify(refused)).toMatch(/hash/i);
  await given.close();
  await offered.close();
}

function hashOf(version: string): string {
  return createHash('sha256').update(greeter(version).content).digest('hex');
}
