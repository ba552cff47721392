/**
 * Removes data of finished runs, and records the progress. Every statement is a separate, bounded transaction, so
 * readers of the event store are not blocked for long. All calls are idempotent and safe to run concurrently.
 */
import { deriveTimeOrderedId } from '#domain/kernel/ids.ts';
import { removalItem, type RemovedBy } from '#domain/ports/run-logs.ts';
import type { RemovableKind } from '#domain/system/retention.ts';
import type { Queryable } from '../database.ts';

/** Types of run data that are removed separately. */
export const kindsOfRun = [
  'logs',
  'samples',
  'artifacts',
] as const satisfies readonly RemovableKind[];
export type KindOfRun = (typeof kindsOfRun)[number];

export interface EndedRun {
  readonly run_id: string;
  readonly finished_at: Date;
}

export interface PassedRun {
  readonly run_id: string;
  readonly finished_at: Date | null;
}

/** The removal progress for one type of data. */
export interface Progress {
  readonly kind: KindOfRun;
  /** The last run whose data has been removed. Runs are processed in order of their IDs. */
  readonly run_id: string;
  /** The requested runs that the removal has skipped so far. */
  readonly later: readonly string[];
}

const statements = {
  next: `SELECT run_id, finished_at FROM runs
    WHERE run_id < $2 AND run_id > coalesce(
      (SELECT run_id FROM retention_progress WHERE kind = $1),
      '00000000-0000-0000-0000-000000000000')
    ORDER BY run_id LIMIT $3`,
  postpone: `INSERT INTO retention_later (kind, run_id)
    SELECT $1, run_id FROM unnest($2::uuid[]) AS run_id ON CONFLICT DO NOTHING`,
  advance: `INSERT INTO retention_progress AS present (kind, run_id) VALUES ($1, $2)
    ON CONFLICT (kind) DO UPDATE SET run_id = excluded.run_id
    WHERE present.run_id < excluded.run_id`,
  due: `SELECT r.run_id, r.finished_at FROM retention_later JOIN runs r USING (run_id)
    WHERE kind = $1 AND r.finished_at < $2 ORDER BY r.run_id LIMIT $3`,
  done: `DELETE FROM retention_later WHERE kind = $1 AND run_id = ANY($2::uuid[])`,
  progress: `SELECT kind, run_id, ARRAY(SELECT l.run_id::text FROM retention_later l
      WHERE l.kind = p.kind AND l.run_id = ANY($1::uuid[])) AS later
    FROM retention_progress p`,
  logs: `SELECT run_id, min(first_seq) AS first, max(last_seq) AS last FROM run_log_chunks
    WHERE run_id = ANY($1::uuid[]) GROUP BY run_id HAVING max(bytes) > 0`,
  // One chunk without text replaces all chunks, so a reader that continues after this chunk finds no lines.
  replace: `UPDATE run_log_chunks c SET last_seq = g.last_seq, bytes = 0, items = g.items
    FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[])
      AS g (run_id, first_seq, last_seq, items)
    WHERE c.run_id = g.run_id AND c.first_seq = g.first_seq`,
  lines: `DELETE FROM run_log_chunks WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM run_log_chunks WHERE run_id = ANY($1::uuid[]) AND bytes > 0 LIMIT $2))`,
  reports: `WITH spans AS (DELETE FROM run_spans WHERE run_id = ANY($1::uuid[]))
    DELETE FROM run_reports WHERE run_id = ANY($1::uuid[])`,
  samples: `DELETE FROM run_samples WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM run_samples WHERE run_id = ANY($1::uuid[]) LIMIT $2))`,
};

const rowsPerBatch = 1000;

/** Returns at most `limit` runs, ordered by ID, that were queued before `before` and have not been processed by the
 *  removal. */
export async function nextRuns(
  db: Queryable,
  kind: KindOfRun,
  before: Date,
  limit: number,
): Promise<readonly PassedRun[]> {
  const bound = deriveTimeOrderedId('00000000-0000-0000-0000-000000000000', before);
  const { rows } = await db.query<PassedRun>(statements.next, [kind, bound, limit]);
  return rows;
}

/** Advances the progress to `runId`. Runs in `later` are skipped, and revisited in a later call. */
export async function advance(
  db: Queryable,
  kind: KindOfRun,
  runId: string,
  later: readonly string[],
): Promise<void> {
  if (later.length > 0) await db.query(statements.postpone, [kind, later]);
  await db.query(statements.advance, [kind, runId]);
}

/** Returns at most `limit` runs that were skipped while active and ended before `before`. */
export async function dueRuns(
  db: Queryable,
  kind: KindOfRun,
  before: Date,
  limit: number,
): Promise<readonly EndedRun[]> {
  const { rows } = await db.query<EndedRun>(statements.due, [kind, before, limit]);
  return rows;
}

/** Records that the data of runs that were skipped earlier has been removed. */
export async function settle(
  db: Queryable,
  kind: KindOfRun,
  runIds: readonly string[],
): Promise<void> {
  await db.query(statements.done, [kind, runIds]);
}

/** Returns the progress of each removal, and which of `runIds` each removal has skipped so far. */
export async function readProgress(
  db: Queryable,
  runIds: readonly string[],
): Promise<readonly Progress[]> {
  const { rows } = await db.query<Progress>(statements.progress, [runIds]);
  return rows;
}

/** Removes the log lines of runs, and leaves one line that reports the removal.
 *  @throws the abort reason of `signal`; the next call continues */
export async function removeLogs(
  db: Queryable,
  runs: readonly EndedRun[],
  by: RemovedBy,
  signal: AbortSignal,
): Promise<void> {
  const ids = runs.map((run) => run.run_id);
  const { rows } = await db.query<{ run_id: string; first: number; last: number }>(
    statements.logs,
    [ids],
  );
  const endOf = new Map(runs.map((run) => [run.run_id, run.finished_at.toISOString()]));
  await db.query(statements.replace, [
    rows.map((row) => row.run_id),
    rows.map((row) => row.first),
    rows.map((row) => row.last),
    rows.map((row) =>
      JSON.stringify([removalItem(row.first, row.last, endOf.get(row.run_id) ?? '', by)]),
    ),
  ]);
  await removeRows(db, statements.lines, ids, signal);
}

/** Removes the samples of runs.
 *  @throws the abort reason of `signal` */
export async function removeSamples(
  db: Queryable,
  runs: readonly EndedRun[],
  signal: AbortSignal,
): Promise<void> {
  const ids = runs.map((run) => run.run_id);
  await removeRows(db, statements.samples, ids, signal);
}

/** Removes the reports of runs. */
export async function removeReports(db: Queryable, runs: readonly EndedRun[]): Promise<void> {
  await db.query(statements.reports, [runs.map((run) => run.run_id)]);
}

async function removeRows(
  db: Queryable,
  statement: string,
  runIds: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  let removed = rowsPerBatch;
  while (removed === rowsPerBatch) {
    signal.throwIfAborted();
    removed = (await db.query(statement, [runIds, rowsPerBatch])).rowCount ?? 0;
  }
}
