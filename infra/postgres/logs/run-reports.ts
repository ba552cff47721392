/** Stores the output and progress that runs report, and the errors of failed runs. */
import type { RunError } from '#domain/run/error/error.ts';
import type { Queryable } from '../database.ts';

const statements = {
  output: `INSERT INTO run_reports (run_id, output) VALUES ($1, $2)
    ON CONFLICT (run_id) DO UPDATE SET output = excluded.output, reported_at = now()`,
  progress: `INSERT INTO run_reports (run_id, progress, progress_text, progress_at)
    VALUES ($1, $2, $3, now())
    ON CONFLICT (run_id) DO UPDATE SET progress = excluded.progress,
      progress_text = excluded.progress_text, progress_at = now(), reported_at = now()`,
  errors: `INSERT INTO run_reports (run_id, error)
    SELECT * FROM unnest($1::uuid[], $2::text[]::jsonb[])
    ON CONFLICT (run_id) DO UPDATE SET error = excluded.error, reported_at = now()`,
  read: `SELECT run_id, output, progress, progress_text, progress_at, error FROM run_reports
    WHERE run_id = ANY($1::uuid[])`,
};

export interface RunProgress {
  /** The progress, from 0 to 1. */
  readonly fraction: number;
  readonly text: string;
}

export interface ReportedProgress extends RunProgress {
  /** Null if an earlier version of the service stored the report. */
  readonly reportedAt: Date | null;
}

export interface RunReport {
  /** The output, as JSON text. */
  readonly output: string | null;
  readonly progress: ReportedProgress | null;
  readonly error: RunError | null;
}

/** @param output JSON text */
export async function saveOutput(db: Queryable, runId: string, output: string): Promise<void> {
  await db.query(statements.output, [runId, output]);
}

export async function saveProgress(
  db: Queryable,
  runId: string,
  { fraction, text }: RunProgress,
): Promise<void> {
  await db.query(statements.progress, [runId, fraction, text]);
}

/** Stores the errors of several runs, in the transaction that records their failure. */
export async function saveErrors(
  db: Queryable,
  errors: readonly { readonly runId: string; readonly content: Uint8Array }[],
): Promise<void> {
  if (errors.length === 0) return;
  await db.query(statements.errors, [
    errors.map(({ runId }) => runId),
    errors.map(({ content }) => new TextDecoder().decode(content)),
  ]);
}

/** Returns reports by run ID. Runs without a report are omitted. */
export async function readReports(
  db: Queryable,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, RunReport>> {
  if (runIds.length === 0) return new Map();
  const { rows } = await db.query<{
    run_id: string;
    output: string | null;
    progress: number | null;
    progress_text: string | null;
    progress_at: Date | null;
    error: RunError | null;
  }>(statements.read, [runIds]);
  return new Map(
    rows.map(({ run_id: runId, output, progress: fraction, progress_text: text, ...row }) => {
      const progress =
        fraction === null ? null : { fraction, text: text ?? '', reportedAt: row.progress_at };
      return [runId, { output, progress, error: row.error }];
    }),
  );
}
