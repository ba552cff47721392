/** Schedules comparisons of repositories with their Git servers, and locks a repository during a sync. */
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Queryable } from '../database.ts';

const retryMs = 250;
/** The first key of the advisory locks. The second key is the hash of the repository's ID. */
const lockKind = 0x676974;

const statements = {
  lock: `SELECT pg_try_advisory_lock(${lockKind}, hashtext($1)) AS locked`,
  unlock: `SELECT pg_advisory_unlock(${lockKind}, hashtext($1))`,
  request: `INSERT INTO repository_checks (repository_id, requested_at) VALUES ($1, clock_timestamp())
    ON CONFLICT (repository_id) DO UPDATE SET requested_at = excluded.requested_at`,
  note: `INSERT INTO repository_checks (repository_id, checked_at) VALUES ($1, $2)
    ON CONFLICT (repository_id) DO UPDATE SET checked_at = excluded.checked_at`,
  now: `SELECT clock_timestamp() AS now`,
  due: `SELECT repository_id FROM repositories r LEFT JOIN repository_checks c USING (repository_id)
    WHERE NOT deleted AND (
      (settings ->> 'mode' = 'write_back' AND (problem IS NULL OR checked_at < clock_timestamp() - interval '1 minute')
        AND EXISTS (SELECT FROM scripts s WHERE s.source ->> 'repositoryId' = r.repository_id::text
          AND s.version > coalesce((s.source #>> '{writeBack,pushed,version}')::integer,
            (s.source #>> '{writeBack,version}')::integer)
          AND s.source #>> '{writeBack,conflict}' IS NULL
          AND s.updated_at < clock_timestamp() - interval '5 seconds'))
      OR (changed AND (checked_at IS NULL OR checked_at < updated_at))
      OR requested_at > coalesce(checked_at, '-infinity')
      OR (coalesce(checked_at, '-infinity') + make_interval(secs => (settings ->> 'pollSeconds')::integer)
        <= clock_timestamp()))
    ORDER BY checked_at NULLS FIRST`,
};

/** Requests a comparison after a webhook call from the Git server. */
export async function requestCheck(db: Queryable, repositoryId: string): Promise<void> {
  await db.query(statements.request, [repositoryId]);
}

/** Returns the repositories that are due for a comparison. */
export async function dueRepositories(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ repository_id: string }>(statements.due, []);
  return rows.map(({ repository_id: id }) => id);
}

/** Runs `work` while no other process syncs the repository. Records when `work` began, so that a push during `work` is
 *  noticed. Closing the connection releases the lock, even if the process crashes.
 *  @returns `undefined` if the repository is still locked after `lockTimeoutMs` */
export async function withRepository<T>(
  pool: pg.Pool,
  repositoryId: string,
  lockTimeoutMs: number,
  work: () => Promise<T>,
): Promise<{ readonly result: T } | undefined> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const noteBroken = (error: Error) => (broken = error);
  client.on('error', noteBroken);
  try {
    const until = performance.now() + lockTimeoutMs;
    while (!(await isLocked(client, repositoryId))) {
      if (performance.now() >= until) return undefined;
      await wait(retryMs);
    }
    try {
      const { rows } = await client.query<{ now: Date }>(statements.now);
      const result = await work();
      await client.query(statements.note, [repositoryId, rows[0]?.now]);
      return { result };
    } finally {
      await client.query(statements.unlock, [repositoryId]).catch(noteBroken);
    }
  } finally {
    client.off('error', noteBroken);
    client.release(broken);
  }
}

async function isLocked(client: pg.PoolClient, repositoryId: string): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(statements.lock, [repositoryId]);
  return rows[0]?.locked === true;
}
