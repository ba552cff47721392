/** Kills the guard before each change that it makes during an update's restart. Afterwards, either the old version
 *  must run with the old database, or the new version with the new database. docs/updates.md describes the steps. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Releases, type Installed } from '#services/shared/releases.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const guardProgram = fileURLToPath(new URL('../testing/guard-child.ts', import.meta.url));
const hold = new URL('../../shared/hold.ts', import.meta.url).href;
const releasesModule = new URL('../../shared/releases.ts', import.meta.url).href;
const updateId = '019aa3f4-01aa-7c11-8d22-5e6f70819203';

let folder: string;
let releases: Releases;
let from: Installed;
let to: Installed;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-guard-'));
  releases = new Releases(folder);
  mkdirSync(join(folder, 'postgres'));
  writeFileSync(join(folder, 'postgres', 'rows'), 'old');
  from = install('0.1.13', ['0001_a.sql'], `begin('0.1.13'); stay();`);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Installs a simulated release. Its program locks the data folder as a real release does, and exits with its guard. */
function install(version: string, migrations: readonly string[], does: string): Installed {
  const at = releases.folderOf(version);
  mkdirSync(join(at, 'services/minimal'), { recursive: true });
  mkdirSync(join(at, 'migrations'), { recursive: true });
  writeFileSync(join(at, 'package.json'), '{"type":"module"}');
  for (const name of migrations) writeFileSync(join(at, 'migrations', name), '');
  const file = (name: string) => JSON.stringify(join(folder, name));
  writeFileSync(
    join(at, 'services/minimal/main.ts'),
    `import { writeFileSync } from 'node:fs';
    import { holdFolder } from ${JSON.stringify(hold)};
    import { answerTo, Releases } from ${JSON.stringify(releasesModule)};
    process.on('disconnect', () => process.exit(0)).on('SIGTERM', () => process.exit(0));
    holdFolder(${JSON.stringify(folder)});
    const begin = (version) => writeFileSync(${file('at-work')}, version);
    const migrate = () => writeFileSync(${file('postgres/rows')}, 'new');
    const stay = () => { process.send('ready'); setInterval(() => undefined, 1000); };
    const releases = new Releases(${JSON.stringify(folder)});
    const carryRun = () => {
      const { updateId, challenge = '' } = releases.read('switch') ?? {};
      const others = { started: 0, ended: 0, sandboxErrors: 0 };
      const done = { status: 'success', answer: answerTo(challenge), failure: null, others };
      releases.write('self-check', { updateId, ...done });
    };
    ${does}`,
  );
  return { version, folder: at };
}

/** Starts a guard in a separate process.
 *  @param variables for `infra/testing/kill-steps.ts` */
function startGuard(variables: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [guardProgram, folder, JSON.stringify(from)], {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { child, ended: once(child, 'exit') as Promise<[number | null, string | null]> };
}

const textOf = (name: string) =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '';

/** Starts a guard that continues the interrupted switch, waits for the outcome, and stops everything in order. */
async function goOn(variables: Readonly<Record<string, string>> = {}): Promise<void> {
  const { child, ended } = startGuard(variables);
  const isOver = () =>
    releases.read('outcome') !== undefined &&
    releases.read('switch') === undefined &&
    textOf('at-work') === wanted().version;
  while (!isOver() && child.exitCode === null) await pause(5);
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
}

/** Returns the release that must be running according to the stored files. */
const wanted = (): Installed => releases.read('active') ?? from;

/** Returns the active version, the database, the outcome, and any leftover files. */
const found = () => ({
  active: wanted().version,
  atWork: textOf('at-work'),
  rows: textOf('postgres/rows'),
  outcome: releases.read('outcome')?.kind,
  isCopyLeft: existsSync(join(folder, 'postgres-before')),
});

const isOld = {
  active: '0.1.13',
  atWork: '0.1.13',
  rows: 'old',
  outcome: 'rolled_back',
  isCopyLeft: false,
};
const isNew = {
  active: '0.1.14',
  atWork: '0.1.14',
  rows: 'new',
  outcome: 'succeeded',
  isCopyLeft: true,
};

/** The state after a failed rollback. */
const staysNew = { ...isNew, outcome: 'rolled_back' };

const ways = [
  {
    way: 'a healthy release',
    does: `begin('0.1.14'); migrate(); carryRun(); stay();`,
    steps: {
      'running cp': isNew,
      'running sync': isNew,
      'replacing postgres-before': isNew,
      'replacing switch.json': isNew,
      'replacing switch.json again': isOld,
      'replacing active.json': isNew,
      'replacing copy.json': isNew,
      'replacing outcome.json': isNew,
      'removing self-check.json': isNew,
      'removing switch.json': isNew,
    },
  },
  {
    way: 'a faulty release',
    does: `begin('0.1.14'); migrate(); process.exit(3);`,
    steps: {
      'running cp': isOld,
      'running sync': isOld,
      'replacing postgres-before': isOld,
      'replacing switch.json': isOld,
      'removing postgres': isOld,
      'replacing postgres': isOld,
      'replacing outcome.json': isOld,
      'removing switch.json': isOld,
    },
  },
] as const;

describe.each(ways)('an update to $way', ({ does, steps }) => {
  beforeEach(() => {
    to = install('0.1.14', ['0001_a.sql', '0002_b.sql'], does);
    releases.write('switch', { updateId, kind: 'update', from, to, isTried: false });
  });

  test('performs the expected steps if the guard is not killed', async () => {
    const noted = join(folder, 'steps');
    await goOn({ STEPS_NOTED_IN: noted });
    expect(readFileSync(noted, 'utf8').trim().split('\n')).toEqual(Object.keys(steps));
  });

  test.each(Object.entries(steps))(
    'leaves one complete version if the guard is killed before %s',
    async (step, expected) => {
      const { ended } = startGuard({ KILLED_BEFORE: step });
      expect(await ended).toEqual([null, 'SIGKILL']);
      await goOn();
      expect(found()).toEqual(expected);
    },
  );
});

const rollbacks = [
  {
    way: 'a healthy previous release',
    does: `begin('0.1.13'); stay();`,
    steps: {
      'replacing postgres-after': isOld,
      'replacing postgres': isOld,
      'replacing switch.json': isOld,
      'replacing switch.json again': staysNew,
      'replacing active.json': isOld,
      'replacing outcome.json': isOld,
      'removing copy.json': isOld,
      'removing postgres-after': isOld,
      'removing switch.json': isOld,
    },
  },
  {
    way: 'a faulty previous release',
    does: `begin('0.1.13'); process.exit(3);`,
    steps: {
      'replacing postgres-after': staysNew,
      'replacing postgres': staysNew,
      'replacing switch.json': staysNew,
      'replacing postgres-before': staysNew,
      'replacing postgres again': staysNew,
      'replacing outcome.json': staysNew,
      'removing switch.json': staysNew,
    },
  },
] as const;

describe.each(rollbacks)('a rollback to $way with its database', ({ does, steps }) => {
  beforeEach(() => {
    to = install('0.1.13', ['0001_a.sql'], does);
    from = install('0.1.14', ['0001_a.sql', '0002_b.sql'], `begin('0.1.14'); stay();`);
    renameSync(join(folder, 'postgres'), join(folder, 'postgres-before'));
    mkdirSync(join(folder, 'postgres'));
    writeFileSync(join(folder, 'postgres', 'rows'), 'new');
    const [madeAt, expiresAt] = ['2026-11-22T00:00:00.000Z', '2026-11-23T00:00:00.000Z'];
    const copy = { folder: join(folder, 'postgres-before'), sizeBytes: 3, madeAt, expiresAt };
    releases.write('copy', { updateId, of: to, ...copy });
    const restores = { updateId, reason: 'Ada rolled back.' };
    releases.write('switch', { updateId, kind: 'rollback', from, to, isTried: false, restores });
  });

  test('performs the expected steps if the guard is not killed', async () => {
    const noted = join(folder, 'steps');
    await goOn({ STEPS_NOTED_IN: noted });
    expect(readFileSync(noted, 'utf8').trim().split('\n')).toEqual(Object.keys(steps));
  });

  test.each(Object.entries(steps))(
    'leaves one complete version if the guard is killed before %s',
    async (step, expected) => {
      const { ended } = startGuard({ KILLED_BEFORE: step });
      expect(await ended).toEqual([null, 'SIGKILL']);
      await goOn();
      expect(found()).toEqual(expected);
      expect(existsSync(join(folder, 'postgres-after'))).toBe(false);
    },
  );
});
