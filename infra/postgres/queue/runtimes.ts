/** Tracks the live runtimes through their heartbeats. */
import type { Queryable } from '../database.ts';

const statements = {
  report: `INSERT INTO runtimes (runtime_id, started_at, seen_at, slots, running, layers, python,
      labels)
    VALUES ($1, $2, now(), $3, $4, $5::jsonb, $6, $7::jsonb)
    ON CONFLICT (runtime_id) DO UPDATE SET started_at = excluded.started_at,
      seen_at = excluded.seen_at, slots = excluded.slots, running = excluded.running,
      layers = excluded.layers, python = excluded.python, labels = excluded.labels`,
  removal: 'UPDATE runtimes SET purged_at = $2 WHERE runtime_id = $1',
  behind: `SELECT FROM runtimes WHERE seen_at > now() - interval '1 minute'
    AND (purged_at IS NULL OR purged_at < $1) LIMIT 1`,
  leave: `DELETE FROM runtimes WHERE runtime_id = $1`,
  list: `SELECT runtime_id, started_at, seen_at, slots, running, layers, python, labels
    FROM runtimes WHERE seen_at > now() - interval '1 minute'
    ORDER BY runtime_id`,
  loads: `SELECT r.runtime_id, r.started_at, r.seen_at, r.slots, r.python, r.labels,
      coalesce(d.drained, false) AS drained,
      (SELECT count(*)::int FROM run_queue q WHERE q.owner = r.runtime_id AND q.lease_until > now())
        AS active_runs
    FROM runtimes r LEFT JOIN runtime_drains d USING (runtime_id)
    WHERE r.seen_at > now() - interval '1 minute' ORDER BY r.runtime_id`,
  known: `SELECT FROM runtimes WHERE runtime_id = $1
    UNION ALL SELECT FROM runtime_drains WHERE runtime_id = $1 LIMIT 1`,
};

export interface RuntimeReport {
  readonly runtime_id: string;
  readonly started_at: Date;
  readonly slots: number;
  readonly running: number;
  readonly layers: readonly { readonly name: string; readonly available: boolean }[];
  /** The version of the Python interpreter that runs scripts. */
  readonly python: string | null;
  readonly labels: readonly string[];
}

/** Records that a runtime is alive. */
export async function reportRuntime(db: Queryable, report: RuntimeReport): Promise<void> {
  const { runtime_id: id, started_at: startedAt, slots, running, layers, python, labels } = report;
  await db.query(statements.report, [
    id,
    startedAt,
    slots,
    running,
    JSON.stringify(layers),
    python,
    JSON.stringify(labels),
  ]);
}

/** Records that a runtime has shut down. */
export async function removeRuntime(db: Queryable, runtimeId: string): Promise<void> {
  await db.query(statements.leave, [runtimeId]);
}

/** Records that a runtime has removed the data of all scripts that were purged before the given database time. */
export async function recordRemoval(db: Queryable, runtimeId: string, time: string): Promise<void> {
  await db.query(statements.removal, [runtimeId, time]);
}

/** Whether all live runtimes have removed the data of scripts that were purged before the given database time. */
export async function areRemovedSince(db: Queryable, time: string): Promise<boolean> {
  return (await db.query(statements.behind, [time])).rows.length === 0;
}

/** Returns the runtimes that reported within the last minute. */
export async function listRuntimes(
  db: Queryable,
): Promise<readonly (RuntimeReport & { readonly seen_at: Date })[]> {
  return (await db.query<RuntimeReport & { seen_at: Date }>(statements.list, [])).rows;
}

export interface RuntimeLoad {
  readonly runtime_id: string;
  readonly started_at: Date;
  readonly seen_at: Date;
  readonly slots: number;
  readonly python: string | null;
  readonly labels: readonly string[];
  readonly drained: boolean;
  /** The number of unfinished runs claimed by the runtime. */
  readonly active_runs: number;
}

/** Returns the runtimes that reported within the last minute, with the number of runs they have claimed. */
export async function listRuntimeLoads(db: Queryable): Promise<readonly RuntimeLoad[]> {
  return (await db.query<RuntimeLoad>(statements.loads, [])).rows;
}

/** Whether this runtime is known. A known runtime has reported without shutting down, or has been drained before. */
export async function isKnownRuntime(db: Queryable, runtimeId: string): Promise<boolean> {
  return (await db.query(statements.known, [runtimeId])).rows.length > 0;
}
