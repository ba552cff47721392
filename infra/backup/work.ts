/** The lock for backup operations, and the progress of the current operation. */
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { Queryable } from '#infra/postgres/database.ts';
import type pg from 'pg';

const retryLockMs = 50;

const statements = {
  lock: `SELECT pg_try_advisory_lock(hashtext($1)) AS mine`,
  unlock: `SELECT pg_advisory_unlock(hashtext($1))`,
  note: `INSERT INTO backup_work (backup_id, share) VALUES ($1, $2)
    ON CONFLICT (backup_id) DO UPDATE SET share = excluded.share, updated_at = now()`,
  clear: `DELETE FROM backup_work WHERE backup_id = $1`,
};

/** Runs `work` unless another process holds the backup lock.
 *  @returns whether `work` ran */
export async function withBackupLock(pool: pg.Pool, work: () => Promise<void>): Promise<boolean> {
  return await whileAlone('backups', pool, work);
}

/** Runs `work` while no backup is being uploaded, because an unfinished upload has no manifest yet.
 *  @param timeoutMs how long to wait for another holder of the lock, such as the scheduler's short cleanup
 *  @returns whether `work` ran */
export async function withUploadLock(
  pool: pg.Pool,
  work: () => Promise<void>,
  timeoutMs = 0,
): Promise<boolean> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    if (await whileAlone('backup uploads', pool, work)) return true;
    if (performance.now() >= untilMs) return false;
    await pause(retryLockMs);
  }
}

/** If unlocking fails, the connection is discarded, which releases the lock. */
async function whileAlone(
  name: string,
  pool: pg.Pool,
  work: () => Promise<void>,
): Promise<boolean> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const { rows } = await client.query<{ mine: boolean }>(statements.lock, [name]);
    if (rows[0]?.mine !== true) return false;
    try {
      await work();
      return true;
    } finally {
      await client.query(statements.unlock, [name]).catch((error: unknown) => {
        broken = new Error('the backup lock could not be released', { cause: error });
      });
    }
  } finally {
    client.release(broken);
  }
}

/** @param share the progress, from 0 to 1 */
export async function noteWork(db: Queryable, backupId: string, share: number): Promise<void> {
  await db.query(statements.note, [backupId, share]);
}

export async function clearWork(db: Queryable, backupId: string): Promise<void> {
  await db.query(statements.clear, [backupId]);
}
