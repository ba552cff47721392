/** Tracks the PostgreSQL backends that execute script queries. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Queryable } from '../database.ts';

const pauseMs = 2_000;

/** Identifies a backend. Process IDs are reused, so the start time is needed as well. */
export interface Backend {
  readonly backend_pid: number;
  readonly started: string;
}

const isThere = `SELECT FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2::timestamptz`;
const end = `SELECT pg_terminate_backend($1) FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2::timestamptz`;

/** Terminates the backend. Resolves when the backend has exited, or when `signal` aborts. Never rejects. */
export async function untilGone(
  database: Queryable,
  { backend_pid: pid, started }: Backend,
  signal: AbortSignal,
): Promise<void> {
  await database.query(end, [pid, started]).catch(() => undefined);
  while (!signal.aborted) {
    // The backend may still exist while the database is unavailable.
    const { rowCount } = await database
      .query(isThere, [pid, started])
      .catch(() => ({ rowCount: 1 }));
    if (rowCount === 0) return;
    await wait(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
