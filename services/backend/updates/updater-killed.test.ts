/** Kills the updater before each action of an update up to the restart. Afterwards, the previous version still runs,
 *  and the next process continues without repeating effects. docs/updates.md names the steps. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { backupContent, startUpdate } from '#domain/testing/samples.ts';
import { updateId } from '#domain/testing/ids.ts';
import { updateSteps } from '#domain/update/update.ts';
import { killedBefore, stepsOf } from '#infra/testing/killed.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { rawKeyOf, signManifest } from '#infra/updates/manifest.ts';
import { Releases } from '#services/shared/releases.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readUpdates } from './update-history.ts';

const program = fileURLToPath(new URL('testing/updater-child.ts', import.meta.url));
const steps = [
  'replacing 0.1.14.tar.gz',
  'recording the end of download',
  'recording the end of verify',
  'recording StartBackup',
  'recording the end of backup',
  'replacing 0.1.14',
  'recording the end of prepare',
  'replacing switch.json',
] as const;

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const artifact = Buffer.from('a release');
const release = {
  version: '0.1.14',
  notes: '',
  sizeBytes: artifact.length,
  sha256: createHash('sha256').update(artifact).digest('hex'),
};

let platform: TestPlatform;
let folder: string;
let args: readonly string[];
let backups: NodeJS.Timeout;
beforeEach(async () => {
  platform = await openTestPlatform();
  folder = await mkdtemp(join(tmpdir(), 'orch-updater-'));
  const repository = join(folder, 'repository');
  await mkdir(repository);
  await writeFile(join(repository, 'release.tar.gz'), artifact);
  await writeFile(join(repository, 'latest.json'), signManifest(manifest, privateKey));
  const key = rawKeyOf(publicKey).toString('base64');
  args = [platform.serviceUrl, folder, repository, key];
  await platform.accepted({
    type: 'NoteRelease',
    ...release,
    releasedAt: manifest.released_at,
    expiresAt: manifest.expires_at,
    minimumVersion: manifest.minimum_version,
  });
  await platform.accepted(startUpdate());
  // Acts as the scheduler, which makes backups.
  backups = setInterval(() => void makeBackups().catch(() => undefined), 50);
});
afterEach(async () => {
  clearInterval(backups);
  await platform.close();
  await rm(folder, { recursive: true });
});

const manifest = {
  format: 'orchestrator-update',
  format_version: 1,
  version: release.version,
  notes: release.notes,
  released_at: '2026-11-20T00:00:00.000Z',
  expires_at: '2027-11-20T00:00:00.000Z',
  minimum_version: '0.1.13',
  artifact: { path: 'release.tar.gz', size_bytes: release.sizeBytes, sha256: release.sha256 },
} as const;

async function startedBackups(): Promise<readonly string[]> {
  const { rows } = await platform.pool.query<{ id: string }>(
    `SELECT data ->> 'backupId' AS id FROM events WHERE type = 'BackupStarted'`,
  );
  return rows.map(({ id }) => id);
}

async function makeBackups(): Promise<void> {
  for (const id of await startedBackups()) {
    const content = { ...backupContent(), kind: 'before_update' as const };
    await platform.accepted({ type: 'FinishBackup', backupId: id as never, content });
  }
}

const story = async () => (await readUpdates(platform.pool)).stories[0];

describe('a requested update', () => {
  test('takes the expected steps when it is not interrupted', async () => {
    expect(await stepsOf(program, args)).toEqual(steps);
  });

  test.each(steps)(
    'changes nothing when killed before %s, and the next process continues it',
    async (step) => {
      await killedBefore(step, program, args);
      const releases = new Releases(folder);
      expect([releases.read('switch'), releases.read('active')]).toEqual([undefined, undefined]);
      expect(await story()).toMatchObject({ status: 'running' });
      await stepsOf(program, args);
      expect(releases.read('switch')).toMatchObject({
        updateId: updateId(),
        to: { version: '0.1.14' },
        isTried: false,
      });
      expect((await story())?.steps.map((one) => one.step)).toEqual(updateSteps.slice(0, 4));
      expect(await startedBackups()).toHaveLength(1);
    },
  );
});
