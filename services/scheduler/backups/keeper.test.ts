/** Tests requested, discovered and expired backups. */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mustParse, parseBackupId, type BackupId } from '#domain/kernel/ids.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { backupId, scriptId, userId } from '#domain/testing/ids.ts';
import { storedBackup, storedBackups } from '#infra/backup/files.ts';
import { readKeys } from '#infra/backup/keys.ts';
import { verifyBackup } from '#infra/backup/verify.ts';
import { withBackupLock } from '#infra/backup/work.ts';
import { masterKey, openSample, type Sample } from '#infra/backup/testing/sample.ts';
import { systemIds } from '#infra/system/ids.ts';
import { findBackup, listBackups } from '#projections/backups/queries.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BackupKeeper, type BackupKeeperDeps } from './keeper.ts';

const migrations = fileURLToPath(new URL('../../../migrations', import.meta.url));
const going = new AbortController().signal;
const start = new Date('2026-03-01T00:00:00Z');

let sample: Sample;
let now: Date;
let passed: BackupId[];
beforeEach(async () => {
  sample = await openSample();
  now = start;
  passed = [];
});
afterEach(() => sample.close());

function keeper(changes: Partial<BackupKeeperDeps> = {}): BackupKeeper {
  const { platform, objects } = sample;
  return new BackupKeeper(
    {
      pool: platform.pool,
      reads: platform.reads,
      objects,
      commands: platform.commands,
      ids: systemIds,
      clock: { now: () => now },
      key: undefined,
      masterKeys: [masterKey],
      version: '0.1.13',
      migrations,
      passRestore: (id) => passed.push(id),
      logger: { info: () => undefined, warn: () => undefined },
      ...changes,
    },
    0,
  );
}

/** Returns the sample's object store with a different `putStream`. */
function objectsWith(putStream: ObjectStore['putStream']): ObjectStore {
  const { objects } = sample;
  return {
    put: (key, bytes) => objects.put(key, bytes),
    putStream,
    get: (key) => objects.get(key),
    getStream: (key) => objects.getStream(key),
    head: (key) => objects.head(key),
    list: (prefix, options) => objects.list(prefix, options),
    delete: (key) => objects.delete(key),
  };
}

const asked = (number = 1) =>
  sample.platform.accepted({ type: 'StartBackup', backupId: backupId(number), kind: 'manual' });
const found = (id = backupId()) => findBackup(sample.platform.reads, id);
const all = () => listBackups(sample.platform.reads, undefined, 100);
const archiveOf = (id: string) => join(sample.folder, 'backups', id, 'backup.tar');

describe('a requested backup', () => {
  test('is complete and verified once it has been created', async () => {
    await asked();
    await keeper().runOnce(going);
    expect(await found()).toMatchObject({
      status: 'complete',
      problem: null,
      share: null,
      content: { events: 10, sizeBytes: readFileSync(archiveOf(backupId())).length },
    });
    await sample.platform.accepted({ type: 'CheckBackup', backupId: backupId() });
    await keeper().runOnce(going);
    expect(await found()).toMatchObject({ checking: false, problem: null });
    expect((await found())?.verified_at).not.toBeNull();
  });

  test('is started again by another scheduler after a crash', async () => {
    await asked();
    const crashingStore = objectsWith(async (_key, chunks) => {
      for await (const _ of chunks) throw stopped;
      return 0;
    });
    const stopping = new AbortController();
    const stopped = new Error('killed');
    const making = keeper({ objects: crashingStore }).runOnce(stopping.signal);
    stopping.abort(stopped);
    await expect(making).rejects.toThrow('killed');
    expect(await found()).toMatchObject({ status: 'running' });
    await keeper().runOnce(going);
    expect(await found()).toMatchObject({ status: 'complete' });
  });

  test('is not created again after a crash before its completion is recorded', async () => {
    await asked();
    const { commands } = sample.platform;
    const deaf: Commands = {
      execute: () => Promise.reject(new Error('killed')),
      executeAll: (all) => commands.executeAll(all),
      check: (all) => commands.check(all),
    };
    await expect(keeper({ commands: deaf }).runOnce(going)).rejects.toThrow('killed');
    const made = readFileSync(archiveOf(backupId()));
    now = new Date('2026-03-02T00:00:00Z');
    await keeper().runOnce(going);
    expect((await found())?.content?.finishedAt).toBe(start.toISOString());
    expect(readFileSync(archiveOf(backupId()))).toEqual(made);
  });

  test('fails with the reason if the storage is full, and leaves no files', async () => {
    await asked();
    const full = objectsWith(() => Promise.reject(new Error('no room to store object')));
    await keeper({ objects: full }).runOnce(going);
    expect(await found()).toMatchObject({
      status: 'failed',
      problem: 'The backup could not be written: no room to store object',
    });
    expect(await storedBackups(sample.objects)).toEqual([]);
  });

  test('is skipped by a scheduler while another scheduler creates it', async () => {
    await asked();
    await withBackupLock(sample.platform.pool, () => keeper().runOnce(going));
    expect(await found()).toMatchObject({ status: 'running' });
  });
});

describe('a complete backup', () => {
  beforeEach(async () => {
    await asked();
    await keeper().runOnce(going);
  });

  test('is reported as damaged, with the location, after a single bit flip', async () => {
    const bytes = readFileSync(archiveOf(backupId()));
    bytes.writeUInt8(bytes.readUInt8(bytes.length / 2) ^ 1, bytes.length / 2);
    writeFileSync(archiveOf(backupId()), bytes);
    await sample.platform.accepted({ type: 'CheckBackup', backupId: backupId() });
    await keeper().runOnce(going);
    expect(await found()).toMatchObject({
      status: 'complete',
      verified_at: null,
      problem: 'tables/payloads/00000001.ndjson.gz is damaged: its content was changed.',
    });
  });

  const stored = async () => {
    const source = await storedBackup(sample.objects, backupId());
    if (source === undefined) throw new Error('there is no backup');
    return source;
  };
  const verified = async (keys = [masterKey]) =>
    await verifyBackup(await stored(), { key: undefined, masterKeys: keys });

  test('is sealed again after a data key is destroyed, without that key', async () => {
    expect(await readKeys(await stored())).toHaveLength(2);
    await sample.platform.pool.query('INSERT INTO destroyed_keys (key_id) VALUES ($1)', [
      scriptId(),
    ]);
    await keeper().runOnce(going);
    const { keys } = await verified();
    expect(keys.map((key) => key.key_id)).toEqual([userId()]);
  });

  test.each([1, 2, 3])(
    'stays complete if the renewal of its keys stops at write %d, and is renewed later',
    async (fatal) => {
      await sample.platform.pool.query('INSERT INTO destroyed_keys (key_id) VALUES ($1)', [
        scriptId(),
      ]);
      let writes = 0;
      const crashing = <Args extends readonly unknown[]>(
        write: (...args: Args) => Promise<void>,
      ) => {
        return (...args: Args) => {
          writes += 1;
          return writes === fatal ? Promise.reject(new Error('killed')) : write(...args);
        };
      };
      const { objects } = sample;
      const crashingStore: ObjectStore = {
        ...objectsWith((key, chunks) => objects.putStream(key, chunks)),
        put: crashing((key, bytes) => objects.put(key, bytes)),
        delete: crashing((key) => objects.delete(key)),
      };
      await expect(keeper({ objects: crashingStore }).runOnce(going)).rejects.toThrow('killed');
      const { names } = await stored();
      expect(names.filter((name) => name.startsWith('keys'))).toHaveLength(fatal === 1 ? 1 : 2);
      await keeper().runOnce(going);
      expect((await verified()).keys.map((key) => key.key_id)).toEqual([userId()]);
    },
  );

  test('is sealed again after a rotation of the master key', async () => {
    const next = Buffer.alloc(32, 'next key');
    await keeper({ masterKeys: [next, masterKey] }).runOnce(going);
    expect(await verified([next])).toMatchObject({ foreignKeys: 0, unsealed: null });
    await expect(verified()).rejects.toThrow('the configured keys differ');
  });

  test('loses its seal and its destroyed keys if its master key is unavailable', async () => {
    await sample.platform.pool.query('INSERT INTO destroyed_keys (key_id) VALUES ($1)', [
      scriptId(),
    ]);
    await keeper({ masterKeys: [Buffer.alloc(32, 'next key')] }).runOnce(going);
    expect((await readKeys(await stored())).map((key) => key.key_id)).toEqual([userId()]);
    await expect(verified()).rejects.toThrow('The backup lost its seal');
  });

  test('stays listed and unchanged if its manifest is damaged', async () => {
    const file = join(sample.folder, 'backups', backupId(), 'backup.json');
    const changed = readFileSync(file, 'utf8').replace('"kind": "manual"', '"kind": "scheduled"');
    writeFileSync(file, changed);
    await keeper().runOnce(going);
    expect(await found()).toMatchObject({ status: 'complete' });
    expect(readFileSync(file, 'utf8')).toBe(changed);
  });

  test('leaves no files after its deletion', async () => {
    await sample.platform.accepted({ type: 'DeleteBackup', backupId: backupId() });
    await keeper().runOnce(going);
    expect([await found(), await storedBackups(sample.objects)]).toEqual([undefined, []]);
  });

  test('is marked as lost when its files disappear, and is found again when they reappear', async () => {
    const kept = join(sample.folder, 'kept');
    renameSync(join(sample.folder, 'backups'), kept);
    await keeper().runOnce(going);
    expect(await found()).toMatchObject({ status: 'failed' });
    rmSync(join(sample.folder, 'backups'), { recursive: true, force: true });
    renameSync(kept, join(sample.folder, 'backups'));
    await keeper().runOnce(going);
    expect(await found()).toMatchObject({ status: 'complete', problem: null });
  });

  test('does not stop the services if it is damaged when its restore is requested', async () => {
    const bytes = readFileSync(archiveOf(backupId()));
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(archiveOf(backupId()), bytes);
    await sample.platform.accepted({ type: 'RequestRestore', backupId: backupId() });
    await keeper().runOnce(going);
    expect(passed).toEqual([]);
    expect(await found()).toMatchObject({ restoring: false });
    expect((await found())?.problem).toContain('is damaged');
  });

  test('does not stop the services if a newer version created it', async () => {
    const none = mkdtempSync(join(sample.folder, 'migrations-'));
    await sample.platform.accepted({ type: 'RequestRestore', backupId: backupId() });
    await keeper({ migrations: none }).runOnce(going);
    expect(passed).toEqual([]);
    expect(await found()).toMatchObject({ restoring: false });
    expect((await found())?.problem).toContain('newer');
  });

  test('has its requested restore passed to the supervisor, or refused if no supervisor exists', async () => {
    await sample.platform.accepted({ type: 'RequestRestore', backupId: backupId() });
    await keeper().runOnce(going);
    expect(passed).toEqual([backupId()]);
    await keeper({ passRestore: undefined }).runOnce(going);
    expect(await found()).toMatchObject({
      restoring: false,
      problem: 'No supervisor runs the services. Restore the backup from the command line.',
    });
  });
});

describe('a nightly schedule with two retained backups', () => {
  beforeEach(async () => {
    const changes = { cron: '0 3 * * *', timezone: 'Europe/Berlin', keep: 2 };
    await sample.platform.accepted({ type: 'ChangeBackupSchedule', changes });
  });

  test('creates one backup per due time, even with several schedulers', async () => {
    now = new Date('2026-03-01T01:59:59Z');
    await sample.platform.pool.query(`UPDATE backup_schedule SET changed_at = $1`, [start]);
    await keeper().runOnce(going);
    expect(await all()).toEqual([]);
    now = new Date('2026-03-01T02:00:00Z');
    await keeper().runOnce(going);
    await keeper().runOnce(going);
    expect(await all()).toMatchObject([{ kind: 'scheduled', status: 'complete' }]);
  });

  test('creates one backup after a month without a scheduler, and deletes old backups', async () => {
    await sample.platform.pool.query(`UPDATE backup_schedule SET changed_at = $1`, [start]);
    await asked();
    for (const day of ['2026-03-02', '2026-03-03', '2026-04-04']) {
      now = new Date(`${day}T12:00:00Z`);
      await keeper().runOnce(going);
    }
    await keeper().runOnce(going);
    const kinds = (await all()).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['manual', 'scheduled', 'scheduled']);
    const scheduled = (await all()).filter(({ kind }) => kind === 'scheduled');
    expect(scheduled.map(({ backup_id: id }) => timeOf(mustParse(parseBackupId, id)))).toEqual([
      '2026-04-04T01:00:00.000Z',
      '2026-03-03T02:00:00.000Z',
    ]);
  });
});

/** Returns the due time of a scheduled backup, which is part of its ID. */
function timeOf(id: BackupId): string {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toISOString();
}
