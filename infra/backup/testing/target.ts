/** The installation into which tests restore the sample's backup. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFolderStore } from '#infra/objects/folder.ts';
import { openDatabase, type Database } from '#infra/postgres/database.ts';
import { systemIds } from '#infra/system/ids.ts';
import { createTestDatabase } from '#infra/testing/database.ts';
import { storedBackup } from '../files.ts';
import {
  prepareRestore,
  restoreBackup,
  type PrepareOptions,
  type RestoreOptions,
  type RestoreReport,
} from '../restore.ts';
import {
  masterKey,
  migrationsFolder,
  sampleBackup,
  sampleProjections,
  sampleTime,
  type Sample,
} from './sample.ts';

export interface Target {
  readonly adminUrl: string;
  readonly pool: Database['pool'];
  /** The folder of the objects. */
  readonly folder: string;
  /** @param from the folder of the object store that contains the backup. Default: the sample's folder */
  restore(
    changes?: Partial<RestoreOptions & PrepareOptions>,
    from?: string,
  ): Promise<RestoreReport>;
  /** Rows in a fixed order. */
  rows(query: string): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

export async function openTarget(sample: Sample): Promise<Target> {
  const { adminUrl, drop } = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'orch-restored-'));
  const { pool, close } = openDatabase(adminUrl, {
    connections: 2,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  return {
    adminUrl,
    pool,
    folder,
    async restore(changes = {}, from = sample.folder) {
      const source = await storedBackup(await openFolderStore({ folder: from }), sampleBackup);
      if (source === undefined) throw new Error('there is no backup');
      const options = {
        pool,
        objects: await openFolderStore({ folder }),
        source,
        key: undefined,
        migrations: migrationsFolder,
        projections: sampleProjections,
        masterKeys: [masterKey],
        replace: false,
        revive: false,
        actor: { kind: 'system', name: 'restore' } as const,
        ids: systemIds,
        now: () => sampleTime,
        ...changes,
      };
      return await restoreBackup(options, await prepareRestore(options));
    },
    rows: (query) => rowsOf(pool, query),
    async close() {
      await close();
      await drop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Rows in a fixed order. */
export async function rowsOf(pool: Database['pool'], query: string): Promise<readonly unknown[]> {
  const { rows } = await pool.query<{ row: unknown }>(
    `SELECT to_jsonb(q) AS row FROM (${query}) q ORDER BY to_jsonb(q)::text`,
  );
  return rows.map(({ row }) => row);
}

/** Copies the sample's backup, so that a test can change the copy. */
export function copyOfBackup(sample: Sample, folder: string) {
  const from = mkdtempSync(join(folder, 'copy-'));
  cpSync(join(sample.folder, 'backups'), join(from, 'backups'), { recursive: true });
  const own = join(from, 'backups', sampleBackup);
  return { from, archive: join(own, 'backup.tar'), summary: join(own, 'backup.json') };
}
