/** Restores return all data. A failed restore changes nothing. */
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backupId, groupId, runId, scriptId, userId } from '#domain/testing/ids.ts';
import { backupContent, createGroup } from '#domain/testing/samples.ts';
import { openFolderStore } from '#infra/objects/folder.ts';
import { PostgresRunQueue } from '#infra/postgres/queue/run-queue.ts';
import { eventsVisible } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storedBackup } from './files.ts';
import { restoreSteps } from './restore.ts';
import { copiedTables } from './tables.ts';
import {
  artifact,
  backUp,
  blob,
  migrationsFolder,
  openSample,
  sampleBackup,
  type Sample,
} from './testing/sample.ts';
import { copyOfBackup, openTarget, rowsOf, type Target } from './testing/target.ts';

let sample: Sample;
let target: Target;
beforeAll(async () => {
  sample = await openSample();
  await backUp(sample);
  target = await openTarget(sample);
});
afterAll(async () => {
  await target.close();
  await sample.close();
});

const history = `SELECT row_number() OVER (ORDER BY transaction_id, global_position) AS place, stream_id, version,
  event_id, type, schema_version, data, metadata, recorded_at FROM events
  WHERE type NOT IN ('BackupRestored', 'RestoreFailed')`;
const others = [
  'SELECT * FROM scripts',
  'SELECT * FROM script_files',
  'SELECT * FROM runs',
  'SELECT run_id, script_id, fence FROM run_queue',
  'SELECT * FROM users',
  'SELECT * FROM data_keys',
  `SELECT audit_seq, hash FROM audit WHERE action <> 'backup_restored'`,
  `SELECT stream_id, stream_type, version FROM streams WHERE stream_type <> 'backup'`,
  ...copiedTables.map((table) => `SELECT * FROM ${table}`),
];

/** Expects that the restore fails and leaves the database unchanged. */
async function refused(
  problem: RegExp | string,
  ...[changes, from]: Parameters<Target['restore']>
) {
  const before = await target.rows('SELECT * FROM events');
  await expect(target.restore({ replace: true, ...changes }, from)).rejects.toThrow(problem);
  expect(await target.rows('SELECT * FROM events')).toEqual(before);
}

describe('a damaged backup', () => {
  test.each([0.001, 0.2, 0.5, 0.8, 0.9999])(
    'is refused when a bit is flipped at the relative position %d',
    async (place) => {
      const { from, archive } = copyOfBackup(sample, target.folder);
      const bytes = readFileSync(archive);
      const at = Math.floor(bytes.length * place);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 4, at);
      writeFileSync(archive, bytes);
      await refused(/^\S+ is damaged: /, {}, from);
    },
  );

  test.each([0, 10, 5_000, 1_500_000, -1])('is refused when truncated at byte %d', async (size) => {
    const { from, archive } = copyOfBackup(sample, target.folder);
    truncateSync(archive, size < 0 ? readFileSync(archive).length + size : size);
    await refused('is damaged: it is truncated.', {}, from);
  });
});

describe('a backup from a newer version', () => {
  const migrationsWithout = (name: string) => {
    const migrations = mkdtempSync(join(target.folder, 'migrations-'));
    cpSync(migrationsFolder, migrations, { recursive: true });
    rmSync(join(migrations, name));
    return migrations;
  };

  test('is refused when its format is unknown', async () => {
    const { from, summary } = copyOfBackup(sample, target.folder);
    const changed = { ...JSON.parse(readFileSync(summary, 'utf8')), format: 3, version: '9.0.0' };
    writeFileSync(summary, JSON.stringify(changed));
    await refused('made by version 9.0.0, which is newer', {}, from);
  });

  test('is refused when its schema has unknown migrations', async () => {
    const { rows } = await sample.platform.pool.query<{ name: string }>(
      'SELECT name FROM schema_migrations ORDER BY number DESC LIMIT 1',
    );
    await refused('newer than this version', {
      migrations: migrationsWithout(rows[0]?.name ?? ''),
    });
  });

  test('is refused when its schema differs', async () => {
    const migrations = migrationsWithout('0013_ws_tickets.sql');
    writeFileSync(join(migrations, '0013_ws_tickets.sql'), '-- another');
    await refused('its migration 0013_ws_tickets.sql differs', { migrations });
  });
});

describe('a backup', () => {
  test('restores all data in its original order', async () => {
    const steps: string[] = [];
    const onProgress = (step: string) => void (steps.at(-1) === step || steps.push(step));
    expect(await target.restore({ onProgress })).toMatchObject({ events: 9, objects: 2 });
    for (const query of [history, ...others]) {
      expect(await target.rows(query)).toEqual(await rowsOf(sample.platform.pool, query));
    }
    const objects = await openFolderStore({ folder: target.folder });
    expect(await objects.get(blob)).toEqual(await sample.objects.get(blob));
    expect(await objects.get(artifact)).toEqual(await sample.objects.get(artifact));
    expect(steps).toEqual(restoreSteps);
  });

  test('makes every event visible to readers and appends later events after them', async () => {
    await eventsVisible(target.pool);
    const { rows } = await target.pool.query(
      `SELECT (SELECT type FROM events ORDER BY transaction_id DESC, global_position DESC LIMIT 1) AS last,
         (SELECT global_position FROM checkpoints WHERE name = 'a reaction') AS seen,
         (SELECT count(*) FROM events e JOIN checkpoints c ON c.name = 'audit' AND
           (e.transaction_id, e.global_position) > (c.transaction_id, c.global_position)) AS behind,
         nextval('events_global_position_seq') AS next`,
    );
    expect(rows).toEqual([{ last: 'BackupRestored', seen: 3, behind: 0, next: 11 }]);
  });

  test('marks a running run as lost and keeps a queued run queued after the restore', async () => {
    const lost = await new PostgresRunQueue(target.pool).lost(10);
    expect(lost.map((one) => one.runId)).toEqual([runId(2)]);
    const queued = await target.rows('SELECT run_id FROM run_queue WHERE fence IS NULL');
    expect(queued).toEqual([{ run_id: runId(3) }]);
  });

  test('is not restored over existing data unless replacing the data is allowed', async () => {
    await expect(target.restore()).rejects.toThrow('has 10 events, which would be lost');
    await target.pool.query('INSERT INTO destroyed_keys (key_id) VALUES ($1)', [scriptId()]);
    const objects = await openFolderStore({ folder: target.folder });
    await objects.put(artifact, Buffer.from('newer'));
    await target.restore({ replace: true });
    expect(await target.rows('SELECT backup_id, status FROM backups')).toEqual([
      { backup_id: backupId(), status: 'complete' },
    ]);
    expect(await objects.get(artifact)).toEqual(await sample.objects.get(artifact));
    // A data key that was destroyed after the backup is not restored.
    expect(await target.rows('SELECT key_id FROM data_keys')).toEqual([{ key_id: userId() }]);
    expect(await target.rows('SELECT key_id FROM destroyed_keys')).toHaveLength(1);
  });
});

test('an encrypted backup can be opened only with its key', async () => {
  const key = randomBytes(32);
  await backUp(sample, key);
  const { from, archive } = copyOfBackup(sample, target.folder);
  expect(readFileSync(archive).includes('print(')).toBe(false);
  await refused('Set ORCH_BACKUP_KEY', {}, from);
  await refused('another ORCH_BACKUP_KEY', { key: randomBytes(32) }, from);
  expect(await target.restore({ key, replace: true }, from)).toMatchObject({ events: 9 });
});

test('a restore cancels a restore request that was pending when the backup was created', async () => {
  const other = backupId(2);
  const { accepted } = sample.platform;
  await accepted({ type: 'FindBackup', backupId: other, content: backupContent() });
  await accepted({ type: 'RequestRestore', backupId: other });
  await backUp(sample);
  await target.restore({ replace: true });
  const query = `SELECT restoring, problem FROM backups WHERE backup_id = '${other}'`;
  expect(await target.rows(query)).toEqual([
    { restoring: false, problem: 'Another backup was restored.' },
  ]);
});

test('a backup made while commands run is consistent with one point in time', async () => {
  let isMade = false;
  const making = backUp(sample).finally(() => (isMade = true));
  for (let number = 10; !isMade; number += 1) {
    const changes = { groupId: groupId(number), name: `group ${number}` };
    await sample.platform.accepted(createGroup(changes));
  }
  const { events: count } = await making;
  const source = await storedBackup(sample.objects, sampleBackup);
  await target.restore({ replace: true, ...(source && { source }) });
  const restored = await target.rows(history);
  expect(restored).toHaveLength(count);
  const all = await rowsOf(sample.platform.pool, history);
  expect(all).toEqual(expect.arrayContaining([...restored]));
});
