import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Releases, type Installed, type Switch } from '#services/shared/releases.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { guard } from './guard.ts';

/** Programs in the place of releases: what they do when they are started. */
const programs = {
  well: `process.send('ready'); process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000);`,
  ends: `process.exit(3);`,
  'ends after it was up': `process.send('ready'); setTimeout(() => process.exit(4), 20);`,
  'is never up': `setInterval(() => {}, 1000);`,
  'spoils the database': `
    require('node:fs').writeFileSync(process.env.DATABASE, 'spoiled'); process.exit(5);`,
} as const;

let folder: string;
let releases: Releases;
let lines: string[];
const updateId = '019aa3f4-01aa-7c11-8d22-5e6f70819203';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-guard-'));
  releases = new Releases(folder);
  lines = [];
  mkdirSync(join(folder, 'postgres'));
  writeFileSync(join(folder, 'postgres', 'rows'), 'of before');
});
afterEach(() => rmSync(folder, { recursive: true }));

function install(
  version: string,
  does: keyof typeof programs,
  migrations = ['0001_a.sql'],
): Installed {
  const at = releases.folderOf(version);
  mkdirSync(join(at, 'services/minimal'), { recursive: true });
  mkdirSync(join(at, 'migrations'));
  writeFileSync(join(at, 'package.json'), '{"type":"commonjs"}');
  for (const name of migrations) writeFileSync(join(at, 'migrations', name), '');
  const note = `require('node:fs').appendFileSync(process.env.STARTED, '${version} ');`;
  writeFileSync(join(at, 'services/minimal/main.ts'), `${note}\n${programs[does]}`);
  return { version, folder: at };
}

function want(from: Installed, to: Installed, changes: Partial<Switch> = {}): void {
  releases.write('switch', { updateId, kind: 'update', from, to, isTried: false, ...changes });
}

/** Watches until these releases were started, one after the other, and it is known how it ended. */
async function watch(own: Installed, expected: string): Promise<void> {
  const asked = new AbortController();
  const started = join(folder, 'started');
  const watching = guard(
    {
      releases,
      dataDir: folder,
      own,
      environment: {
        ...process.env,
        STARTED: started,
        DATABASE: join(folder, 'postgres', 'rows'),
      },
      say: (line) => lines.push(line),
      startPatienceMs: 700,
      settleMs: 60,
      stopPatienceMs: 200,
    },
    asked.signal,
  );
  const read = () => (existsSync(started) ? readFileSync(started, 'utf8').trim() : '');
  while (releases.read('outcome') === undefined || read() !== expected) {
    await new Promise((done) => setTimeout(done, 10));
  }
  asked.abort();
  await watching;
  expect(read()).toBe(expected);
}

const rows = () => readFileSync(join(folder, 'postgres', 'rows'), 'utf8');

describe('given a switch that is wanted', () => {
  test('when the other release is well, then it is at work, and the way back is known', async () => {
    const [from, to] = [install('0.1.13', 'well'), install('0.1.14', 'well')];
    want(from, to);
    await watch(from, '0.1.14');
    expect(releases.read('active')).toEqual({ ...to, previous: from });
    expect(releases.read('outcome')).toMatchObject({ updateId, kind: 'succeeded' });
    expect(releases.read('switch')).toBeUndefined();
  });

  test.each([
    ['ends', /ended with code 3/],
    ['ends after it was up', /ended with code 4/],
    ['is never up', /not up in time/],
    ['spoils the database', /ended with code 5/],
  ] as const)(
    'when the other release %s, then the one before is at work again',
    async (does, reason) => {
      const from = install('0.1.13', 'well');
      const to = install('0.1.14', does, ['0001_a.sql', '0002_b.sql']);
      want(from, to);
      await watch(from, '0.1.14 0.1.13');
      const outcome = releases.read('outcome');
      expect(outcome).toMatchObject({ updateId, kind: 'rolled_back' });
      expect(outcome?.reason).toMatch(reason);
      expect([releases.read('active'), releases.read('switch')]).toEqual([undefined, undefined]);
      expect(rows()).toBe('of before');
      expect(existsSync(join(folder, 'postgres-before'))).toBe(false);
    },
  );

  test('when the schema stays, then nothing that was recorded is taken back', async () => {
    const [from, to] = [install('0.1.13', 'well'), install('0.1.14', 'spoils the database')];
    want(from, to);
    await watch(from, '0.1.14 0.1.13');
    expect(rows()).toBe('spoiled');
  });

  test('when everything died while the other one was tried, then the one before comes, as it was', async () => {
    const [from, to] = [install('0.1.13', 'well'), install('0.1.14', 'well')];
    want(from, to, { isTried: true });
    mkdirSync(join(folder, 'postgres-before'));
    writeFileSync(join(folder, 'postgres-before', 'rows'), 'kept');
    await watch(from, '0.1.13');
    expect(releases.read('outcome')).toMatchObject({ kind: 'rolled_back' });
    expect(rows()).toBe('kept');
  });

  test('when the copy of the database was cut by a death, then it is made anew', async () => {
    const from = install('0.1.13', 'well');
    want(from, install('0.1.14', 'ends', ['0001_a.sql', '0002_b.sql']));
    mkdirSync(join(folder, 'postgres-before.part'));
    writeFileSync(join(folder, 'postgres-before.part', 'rows'), 'half');
    await watch(from, '0.1.14 0.1.13');
    expect(rows()).toBe('of before');
  });
});
