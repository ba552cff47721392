import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lockOfLines, lockOfReport, pinsOf } from './lock.ts';
import { givenEnvironments, readyOf } from './testing/fixture.ts';
import {
  expectForgeryRefused,
  expectSameAgain,
  givenPackages,
  greeter,
  polite,
  words,
} from './testing/same-again.ts';

const hash = (letter: string) => `sha256:${letter.repeat(64)}`;

describe('a lock', () => {
  test("is parsed from uv's output", () => {
    const text = `# made by uv\nZope.Interface==7.2 \\\n    --hash=${hash('b')} \\\n    --hash=${hash('a')}\nabc==1.0 --hash=${hash('c')}\n`;
    expect(lockOfLines(text)).toBe(
      `abc==1.0 --hash=${hash('c')}\nzope-interface==7.2 --hash=${hash('a')} --hash=${hash('b')}\n`,
    );
  });

  test('is parsed from pip reports, including those of older versions', () => {
    const report = {
      install: [
        {
          metadata: { name: 'six', version: '1.17.0' },
          download_info: { archive_info: { hashes: { sha256: 'a'.repeat(64) } } },
        },
        {
          metadata: { name: 'Older_Form', version: '2' },
          download_info: { archive_info: { hash: `sha256=${'b'.repeat(64)}` } },
        },
      ],
    };
    expect(lockOfReport(JSON.stringify(report))).toBe(
      `older-form==2 --hash=${hash('b')}\nsix==1.17.0 --hash=${hash('a')}\n`,
    );
  });

  test('has hashes for all packages or for none', () => {
    expect(lockOfLines(`a==1 --hash=${hash('a')}\nb==2\n`)).toBe('a==1\nb==2\n');
  });

  test.each(['', 'x', '{"install": 1}', '{"install": [{"metadata": {"name": "a"}}]}'])(
    'is not created from the invalid report %j',
    (text) => {
      expect(lockOfReport(text)).toBeUndefined();
    },
  );

  test.each(['a', 'a>=1', '-e .', 'a==1 --hash=md5:0', 'a==1 --index-url=x', 'a==1;x'])(
    'is not created from the unsupported line %j',
    (line) => {
      expect(lockOfLines(line)).toBeUndefined();
    },
  );
});

test('a lock makes pip reinstall the same packages, even if newer versions exist', async () => {
  await expectSameAgain({ PATH: '/usr/bin:/bin' }, /^pip /);
});

test('a lock makes pip refuse changed files of a locked version', async () => {
  await expectForgeryRefused({ PATH: '/usr/bin:/bin' });
});

test('an environment whose lock this machine created is reused without another build', async () => {
  const offered = await givenPackages(greeter('1.0'), polite);
  const variables = { PATH: '/usr/bin:/bin', ...offered.variables };
  const given = await givenEnvironments({ variables });
  const requirements = 'polite-greeter';
  const chosen = readyOf(await given.ensure({ requirements }));
  const again = readyOf(await given.ensure({ requirements, lock: chosen.lock }));
  expect(again).toMatchObject({ built: false, environmentDir: chosen.environmentDir });
  await given.close();
  await offered.close();
});

test('a script whose requirements refer to its own files keeps the locked versions', async () => {
  const offered = await givenPackages(greeter('1.0'), polite);
  const variables = { PATH: '/usr/bin:/bin', ...offered.variables };
  const folder = await mkdtemp(join(tmpdir(), 'project-'));
  await mkdir(join(folder, 'more'));
  await writeFile(join(folder, 'more', 'list.txt'), 'polite-greeter\n');
  const request = { requirements: '-r more/list.txt\n', project: { folder, version: '1' } };
  const [first, later] = [
    await givenEnvironments({ variables }),
    await givenEnvironments({ variables }),
  ];
  const chosen = readyOf(await first.ensure(request));
  expect(chosen.lock).toBe(pinsOf(chosen.lock));
  await offered.add(greeter('2.0'));
  const again = readyOf(await later.ensure({ ...request, lock: chosen.lock }));
  expect(await words(again.pythonPath)).toBe('1.0');
  for (const one of [first, later]) await one.close();
  await rm(folder, { recursive: true });
  await offered.close();
});
