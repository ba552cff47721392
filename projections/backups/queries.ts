import type { BackupId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';
import type { BackupScheduleTable, BackupsTable } from './table.ts';

/** A backup with the progress of its creation or check, if in progress. */
export interface BackupRow extends BackupsTable {
  readonly share: number | null;
}

const columns = `b.*, w.share FROM backups b LEFT JOIN backup_work w
  ON w.backup_id = b.backup_id AND (b.status = 'running' OR b.checking)`;
const one = statement<BackupRow>(`SELECT ${columns} WHERE b.backup_id = $1 AND NOT b.deleted`);
const page = statement<BackupRow>(`SELECT ${columns}
  WHERE NOT b.deleted AND ($1::uuid IS NULL OR b.backup_id < $1) ORDER BY b.backup_id DESC LIMIT $2`);

/** Returns a backup, or `undefined` if it does not exist. */
export async function findBackup(db: ReadModels, id: BackupId): Promise<BackupRow | undefined> {
  return (await one(db, id))[0];
}

/** Lists backups, newest first, starting after `after`. Returns at most `limit` backups. */
export async function listBackups(
  db: ReadModels,
  after: BackupId | undefined,
  limit: number,
): Promise<readonly BackupRow[]> {
  return await page(db, after ?? null, limit);
}

/** Returns all backups, including deleted ones, ordered by ID. */
export async function allBackups(db: ReadModels): Promise<readonly BackupsTable[]> {
  return await db.selectFrom('backups').selectAll().orderBy('backup_id').execute();
}

/** Returns the schedule of automatic backups, or `undefined` if it was never set. */
export async function backupSchedule(db: ReadModels): Promise<BackupScheduleTable | undefined> {
  return await db.selectFrom('backup_schedule').selectAll().executeTakeFirst();
}

const newest = statement<{ created_at: Date }>(`SELECT created_at FROM backups
  WHERE status = 'complete' AND NOT deleted ORDER BY created_at DESC LIMIT 1`);

/** Returns the time at which the newest completed backup was started, or `undefined` if none exists. */
export async function newestBackup(db: ReadModels): Promise<Date | undefined> {
  return (await newest(db))[0]?.created_at;
}
