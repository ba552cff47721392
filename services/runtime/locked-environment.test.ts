import { scriptId } from '#domain/testing/ids.ts';
import { PostgresEnvironmentLocks } from '#infra/postgres/operations/environment-locks.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { givenEnvironments, python, readyOf } from './environments/testing/fixture.ts';
import { givenPackages, greeter, polite, words } from './environments/testing/same-again.ts';
import { lockedEnvironment } from './locked-environment.ts';

let platform: TestPlatform;
let locks: PostgresEnvironmentLocks;
let closing: (() => Promise<unknown>)[];
beforeEach(async () => {
  platform = await openTestPlatform();
  locks = new PostgresEnvironmentLocks(platform.pool);
  closing = [];
});
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  await platform.close();
});

/** Creates a separate runtime whose package index contains the packages from one folder. */
async function givenRuntime(variables: Readonly<Record<string, string>>) {
  const given = await givenEnvironments({ variables: { PATH: '/usr/bin:/bin', ...variables } });
  closing.push(() => given.close());
  const ensure = (version: number, more: object = {}) =>
    lockedEnvironment(
      { environments: given.environments, locks },
      { scriptId: scriptId(), scriptVersion: version },
      {
        requirements: 'polite-greeter\n',
        pythonPath: python.executable,
        onLog: (line) => void given.lines.push(line),
        signal: new AbortController().signal,
        ...more,
      },
    );
  return { ensure, environments: given.environments };
}

async function offer(...versions: readonly string[]) {
  const offered = await givenPackages(polite, ...versions.map((version) => greeter(version)));
  closing.push(() => offered.close());
  return offered;
}

describe('a script version that has run before', () => {
  test('keeps its packages on another runtime, even if newer versions exist', async () => {
    const offered = await offer('1.0');
    const [one, other] = [
      await givenRuntime(offered.variables),
      await givenRuntime(offered.variables),
    ];
    const first = readyOf(await one.ensure(1));
    await offered.add(greeter('2.0'));
    const second = readyOf(await other.ensure(1));
    expect(await words(second.pythonPath)).toBe('1.0');
    expect(second.lock).toBe(first.lock);
    const [lock, ...more] = await locks.ofVersion(scriptId(), 1);
    const target = await one.environments.targetOf(python.executable);
    expect([lock?.lock, lock?.target, more]).toEqual([first.lock, target, []]);
  });

  test('keeps its packages when a newer version of the script resolves the requirements again', async () => {
    const offered = await offer('1.0');
    const { ensure } = await givenRuntime(offered.variables);
    const first = readyOf(await ensure(1));
    await offered.add(greeter('2.0'));
    const resolvedAgain = readyOf(await ensure(2, { resolution: 'again' }));
    expect(await words(resolvedAgain.pythonPath)).toBe('2.0');
    const same = readyOf(await ensure(1));
    expect(same.environmentDir).toBe(first.environmentDir);
  });

  test('reports how to resolve the requirements again when its packages are no longer available', async () => {
    const { ensure } = await givenRuntime((await offer('1.0')).variables);
    readyOf(await ensure(1));
    const elsewhere = await givenRuntime((await offer('2.0')).variables);
    const failed = await elsewhere.ensure(1);
    expect(failed.status).toBe('failed');
    expect(JSON.stringify(failed)).toContain('Rebuild the script');
  });
});

test('two runtimes that resolve requirements concurrently use the lock that is recorded first', async () => {
  const [older, newer] = [await offer('1.0'), await offer('1.0', '2.0')];
  const [one, other] = [await givenRuntime(older.variables), await givenRuntime(newer.variables)];
  // The first runtime resolves the requirements, but the other runtime records its lock first.
  const isRecorded = Promise.withResolvers<void>();
  const first = one.ensure(1, {
    onLog: async (line: string) => {
      if (line.startsWith('Successfully installed')) await isRecorded.promise;
    },
  });
  const early = locks.record(await placeOf(other, 1), await lockOf(other));
  await early;
  await older.add(greeter('2.0'));
  isRecorded.resolve();
  const late = readyOf(await first);
  expect(late.lock).toBe(await early);
  expect(await words(late.pythonPath)).toBe('2.0');
});

async function placeOf(
  { environments }: Awaited<ReturnType<typeof givenRuntime>>,
  version: number,
) {
  const target = await environments.targetOf(python.executable);
  return { scriptId: scriptId(), scriptVersion: version, target };
}

/** Returns the lock that this runtime resolves if none is recorded. */
async function lockOf({ ensure }: Awaited<ReturnType<typeof givenRuntime>>): Promise<string> {
  return readyOf(await ensure(99)).lock;
}

test('a script without requirements gets no lock', async () => {
  const { ensure } = await givenRuntime({});
  readyOf(await ensure(1, { requirements: '# none\n' }));
  expect(await locks.ofVersion(scriptId(), 1)).toEqual([]);
});
