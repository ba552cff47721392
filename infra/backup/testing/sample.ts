/** A sample installation with data of every kind, and its backup, for tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHash, randomBytes } from 'node:crypto';
import { objectKey } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { backupId, runId, scriptId, userId } from '#domain/testing/ids.ts';
import {
  createGroup,
  createScript,
  createUser,
  finishRun,
  runScript,
} from '#domain/testing/samples.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { wrapDataKey } from '#infra/secrets/data-keys.ts';
import { keyName } from '#infra/secrets/envelope.ts';
import { openFolderStore } from '#infra/objects/folder.ts';
import { eventsVisible, openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { asyncProjections, inlineProjections } from '#projections/registry.ts';
import { Projector } from '#infra/postgres/readers/projector.ts';
import { makeBackup } from '../make.ts';
import type { BackupSummary } from '../format.ts';

export const migrationsFolder = fileURLToPath(new URL('../../../migrations', import.meta.url));
export const sampleProjections = { inline: inlineProjections, async: asyncProjections };
/** The master key of the installation. */
export const masterKey: Uint8Array = createHash('sha256').update('master key').digest();
export const sampleBackup = backupId();
export const sampleTime = new Date('2026-01-02T03:04:05.678Z');
const content = Buffer.from('print("hello")\n');
export const blob = objectKey.scriptBlob(scriptId(), sha256(content));
export const artifact = objectKey.runArtifact(runId(), 'results/table with a long name.csv');

export interface Sample {
  readonly platform: TestPlatform;
  readonly objects: ObjectStore;
  readonly folder: string;
  close(): Promise<void>;
}

/** Creates the sample. One of its runs has ended, one is running, and one is queued. */
export async function openSample(): Promise<Sample> {
  const platform = await openTestPlatform();
  const folder = mkdtempSync(join(tmpdir(), 'orch-backup-'));
  const objects = await openFolderStore({ folder });
  const { accepted, pool } = platform;
  await accepted(createGroup());
  await accepted(createUser());
  await accepted(createScript({ settings: { ...defaultSettings, maxConcurrentRuns: 2 } }));
  for (const number of [1, 2, 3]) {
    const id = runId(number);
    await accepted(runScript({ runId: id }));
    if (number === 3) break;
    await accepted({ type: 'StartRun', runId: id, runtimeId: 'test', layers: [] });
    if (number === 1) await accepted(finishRun({ runId: id, fence: 2 }));
  }
  await objects.put(blob, content);
  await objects.put(artifact, Buffer.from('a,b\n1,2\n'));
  await pool.query(`INSERT INTO payloads (sha256, content) VALUES ($1, $2)`, [
    'b'.repeat(64),
    randomBytes(2_000_000),
  ]);
  await pool.query(
    `INSERT INTO run_log_chunks (run_id, first_seq, last_seq, bytes, items)
     SELECT $1, n, n, 5, '[{"text": "line \\"' || n || '\\" ä"}]' FROM generate_series(1, 3000) n`,
    [runId()],
  );
  await pool.query(`INSERT INTO script_state (script_id, key, value) VALUES ($1, 'k', 'v')`, [
    scriptId(),
  ]);
  await pool.query(
    `INSERT INTO data_keys (key_id, script_id, master_key_id, wrapped_key)
     VALUES ($1, $1, $3, $4), ($2, $2, $3, $5)`,
    [scriptId(), userId(), keyName(masterKey), wrappedKey(scriptId()), wrappedKey(userId())],
  );
  await eventsVisible(pool);
  await new Projector(pool, asyncProjections).runOnce(new AbortController().signal);
  await pool.query(`INSERT INTO checkpoints (name, version, transaction_id, global_position)
    SELECT 'a reaction', 1, transaction_id, global_position FROM events
    ORDER BY transaction_id, global_position OFFSET 2 LIMIT 1`);
  const close = async () => {
    await platform.close();
    rmSync(folder, { recursive: true });
  };
  return { platform, objects, folder, close };
}

/** Makes a backup of the sample in its own object store. */
export async function backUp(
  { platform, objects }: Sample,
  key?: Uint8Array,
  id = sampleBackup,
): Promise<BackupSummary> {
  return await makeBackup(
    { pool: platform.pool, objects, key, masterKey, version: '0.1.13' },
    { backupId: id, kind: 'manual', createdAt: sampleTime, now: () => sampleTime },
    new AbortController().signal,
  );
}

function wrappedKey(id: string): Buffer {
  return wrapDataKey(masterKey, randomBytes(32), { key_id: id, script_id: id });
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
