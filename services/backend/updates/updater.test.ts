import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mustParse, parseUpdateId, type UpdateId } from '#domain/kernel/ids.ts';
import { backupContent, startUpdate } from '#domain/testing/samples.ts';
import { updateSteps, type UpdateStep } from '#domain/update/update.ts';
import { Targets } from '#infra/outgoing/targets.ts';
import { systemIds } from '#infra/system/ids.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { publicKeyOf, rawKeyOf, signManifest } from '#infra/updates/manifest.ts';
import { RepositoryUpdateProvider } from '#infra/updates/provider.ts';
import { repositoryAt } from '#infra/updates/source.ts';
import { Releases } from '#services/shared/releases.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readUpdates } from './update-history.ts';
import { Updater, type UpdaterDeps } from './updater.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const clock = { now: () => new Date('2026-11-22T00:00:00.000Z') };
const signal = new AbortController().signal;
const artifact = Buffer.from('a release');

let platform: TestPlatform;
let folder: string;
let releases: Releases;
let number = 13;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orch-updater-'));
  releases = new Releases(folder);
  number += 1;
  await offer();
});
afterEach(() => rm(folder, { recursive: true }));

const version = () => `0.1.${number}`;

/** Publishes a release in the repository. */
async function offer(content: Uint8Array = artifact, key: KeyObject = privateKey): Promise<void> {
  const repository = join(folder, 'repository');
  await mkdir(repository, { recursive: true });
  await writeFile(join(repository, 'release.tar.gz'), content);
  const manifest = {
    format: 'orchestrator-update',
    format_version: 1,
    version: version(),
    notes: '',
    released_at: '2026-11-20T00:00:00.000Z',
    expires_at: '2027-11-20T00:00:00.000Z',
    minimum_version: '0.1.13',
    artifact: {
      path: 'release.tar.gz',
      size_bytes: artifact.length,
      sha256: createHash('sha256').update(artifact).digest('hex'),
    },
  } as const;
  await writeFile(join(repository, 'latest.json'), signManifest(manifest, key));
}

function provider(): RepositoryUpdateProvider {
  const url = pathToFileURL(join(folder, 'repository')).href;
  const read = repositoryAt(url, new Targets([]));
  return new RepositoryUpdateProvider({ read, keys: [publicKeyOf(rawKeyOf(publicKey))], clock });
}

function updater(changes: Partial<UpdaterDeps> = {}): Updater {
  return new Updater({
    commands: platform.commands,
    database: platform.pool,
    clock,
    ids: systemIds,
    logger: { info: () => undefined, warn: () => undefined },
    provider: provider(),
    objects: { putStream: () => Promise.resolve(0) },
    releases,
    own: { version: '0.1.13', folder: '/own' },
    prepare: async ({ folder: at }) => void (await mkdir(at, { recursive: true })),
    ...changes,
  });
}

/** Requests an update, and acts as the scheduler that creates the backup. */
async function given(): Promise<string> {
  const updateId = mustParse(parseUpdateId, systemIds.next());
  const release = await provider().checkLatest();
  await platform.accepted({ type: 'NoteRelease', ...release });
  await platform.accepted(startUpdate({ updateId, to: version() }));
  return updateId;
}

async function makeBackups(): Promise<void> {
  const { rows } = await platform.pool.query<{ id: string }>(
    `SELECT data ->> 'backupId' AS id FROM events e WHERE type = 'BackupStarted' AND NOT EXISTS
      (SELECT FROM events o WHERE o.stream_id = e.stream_id AND o.type = 'BackupFinished')`,
  );
  for (const { id } of rows) {
    const content = { ...backupContent(), kind: 'before_update' as const };
    await platform.accepted({ type: 'FinishBackup', backupId: id as never, content });
  }
}

/** Runs the updater until it has requested the restart or has finished. */
async function work(one = updater()): Promise<void> {
  const backups = setInterval(() => void makeBackups().catch(() => undefined), 50);
  try {
    while ((await one.runOnce(signal)) === true);
  } finally {
    clearInterval(backups);
  }
}

const story = async () => (await readUpdates(platform.pool)).stories[0];

describe('a requested update', () => {
  test('records each step, and requests the restart', async () => {
    const updateId = await given();
    await work();
    expect((await story())?.steps.map(({ step }) => step)).toEqual(updateSteps.slice(0, 4));
    expect(releases.read('switch')).toEqual({
      updateId,
      kind: 'update',
      from: { version: '0.1.13', folder: '/own' },
      to: { version: version(), folder: releases.folderOf(version()) },
      isTried: false,
    });
    releases.remove('switch');
    releases.write('outcome', { updateId, kind: 'succeeded', reason: '' });
    const to = { version: version(), folder: releases.folderOf(version()) };
    await mkdir(releases.folderOf('0.1.9'));
    releases.write('active', { ...to, previous: { version: '0.1.13', folder: '/own' } });
    await work();
    expect(await story()).toMatchObject({ status: 'succeeded', to: version() });
    expect((await readdir(releases.folder)).toSorted()).toEqual([version(), 'active.json']);
  });

  test.each(updateSteps)(
    'continues in the next process after a crash in the step "%s"',
    async (step) => {
      const updateId = await given();
      await work(crashingIn(step)).catch(() => undefined);
      expect(await story()).toMatchObject({ status: 'running' });
      await work();
      expect(releases.read('switch')).toMatchObject({ updateId });
      expect((await story())?.steps.map((one) => one.step)).toEqual(updateSteps.slice(0, 4));
      releases.write('outcome', {
        updateId,
        kind: 'rolled_back',
        reason: 'It was not up in time.',
      });
      await work();
      expect(await story()).toMatchObject({
        status: 'rolled_back',
        reason: 'It was not up in time.',
      });
    },
  );

  test.each([
    [
      'download',
      'has a different signer',
      () => offer(artifact, generateKeyPairSync('ed25519').privateKey),
      /not signed/,
    ],
    ['download', 'is truncated', () => offer(artifact.subarray(0, 4)), /interrupted/],
    [
      'verify',
      'has different content',
      () => offer(Buffer.from('b release')),
      /does not match its signature/,
    ],
  ] as const)(
    'fails in the step "%s" without changes when the release %s',
    async (step, _, spoil, reason) => {
      await given();
      await spoil();
      await work();
      const found = await story();
      expect(found).toMatchObject({ status: 'failed', step });
      expect(found?.reason).toMatch(reason);
      expect(releases.read('switch')).toBeUndefined();
    },
  );

  test('does not unpack a release that was changed after its verification', async () => {
    await given();
    const one = updater();
    const backups = setInterval(() => void makeBackups(), 50);
    for (const _ of ['download', 'verify', 'backup']) await one.runOnce(signal);
    clearInterval(backups);
    await writeFile(join(releases.folder, 'downloads', `${version()}.tar.gz`), 'x release');
    await work(one);
    expect(await story()).toMatchObject({ status: 'failed', step: 'prepare' });
  });

  test('fails if the backup does not finish in time', async () => {
    await given();
    const one = updater({ backupTimeoutMs: -1 });
    while ((await one.runOnce(signal)) === true);
    expect(await story()).toMatchObject({ status: 'failed', step: 'backup' });
  });
});

describe('the database copy made before an update', () => {
  let updateId: UpdateId;
  const kept = () => join(folder, 'postgres-before');
  beforeEach(async () => {
    updateId = mustParse(parseUpdateId, await given());
    await platform.accepted({ type: 'SucceedUpdate', updateId });
    await mkdir(kept());
    for (const at of ['own', 'old'])
      await mkdir(join(folder, at, 'migrations'), { recursive: true });
    await writeFile(join(folder, 'own', 'migrations', '0002_b.sql'), '');
    releases.write('copy', {
      updateId,
      of: { version: '0.1.12', folder: join(folder, 'old') },
      folder: kept(),
      madeAt: '2026-11-21T00:00:00.000Z',
      expiresAt: '2026-11-22T00:00:00.000Z',
      sizeBytes: 1,
    });
  });
  const at = (time: string) => ({ now: () => new Date(time) });
  const own = () => ({ version: '0.1.13', folder: join(folder, 'own') });
  const left = () => [releases.read('copy') !== undefined, existsSync(kept())];

  test('is kept until it expires', async () => {
    await work(updater({ clock: at('2026-11-21T23:59:59.999Z') }));
    expect(left()).toEqual([true, true]);
    await work(updater());
    expect(left()).toEqual([false, false]);
  });

  test('is removed once its rollback is discarded, even after a crash during removal', async () => {
    await platform.accepted({ type: 'DiscardRollback', updateId, cause: 'requested' });
    await rm(kept(), { recursive: true });
    await work(updater({ clock: at('2026-11-21T01:00:00.000Z') }));
    expect(left()).toEqual([false, false]);
  });

  test('replaces the database in a rollback, during which the copy does not expire', async () => {
    const rollbackId = mustParse(parseUpdateId, systemIds.next());
    const back = { kind: 'rollback', from: '0.1.13', to: '0.1.12' } as const;
    releases.write('active', {
      ...own(),
      previous: { version: '0.1.12', folder: join(folder, 'old') },
    });
    await platform.accepted(startUpdate({ updateId: rollbackId, ...back }));
    await work(updater({ own: own() }));
    const reason = expect.stringMatching(/rolled back from 0.1.13 to 0.1.12; events since .+: \d+/);
    expect(releases.read('switch')).toMatchObject({
      updateId: rollbackId,
      to: { version: '0.1.12' },
      restores: { updateId, reason: reason as string },
    });
    expect(left()).toEqual([true, true]);
    await platform.accepted({ type: 'FailUpdate', updateId: rollbackId, reason: 'over' });
  });

  test('makes the rollback fail without changes if it is missing', async () => {
    releases.remove('copy');
    const back = { kind: 'rollback', from: '0.1.13', to: '0.1.12' } as const;
    const rollbackId = mustParse(parseUpdateId, systemIds.next());
    releases.write('active', {
      ...own(),
      previous: { version: '0.1.12', folder: join(folder, 'old') },
    });
    await platform.accepted(startUpdate({ updateId: rollbackId, ...back }));
    await work(updater({ own: own() }));
    expect(await story()).toMatchObject({ status: 'failed', step: 'restart' });
    expect(releases.read('switch')).toBeUndefined();
  });
});

/** Performs a step, and crashes before the step is recorded. */
function crashingIn(step: UpdateStep): Updater {
  const execute: UpdaterDeps['commands']['execute'] = async (command, context) => {
    if (command.type === 'FinishUpdateStep' && command.step === step) throw new Error('died');
    if (command.type === 'FailUpdate') throw new Error('died');
    return await platform.commands.execute(command, context);
  };
  const { commands } = platform;
  const crashing = {
    execute,
    executeAll: commands.executeAll.bind(commands),
    check: commands.check.bind(commands),
  };
  const crashingUpdater = updater({ commands: crashing });
  if (step !== 'restart') return crashingUpdater;
  // Simulates a restart request that was not written completely.
  const { read } = releases;
  const half = Object.assign(new Releases(folder), {
    read,
    write: () => {
      throw new Error('died');
    },
  });
  return updater({ releases: half });
}
