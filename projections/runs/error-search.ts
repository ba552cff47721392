/** Searches the text of errors. The text is stored in `run_reports`, so that a purge deletes it. */
import type { RunId } from '#domain/kernel/ids.ts';
import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';
import { containing } from '../scripts/search.ts';

/** The index requires a sequence of three letters or digits. */
const searchable = /[\p{L}\p{N}]{3}/u;

/** Whether errors can be searched for this text, which must not be too short. */
export function canSearchErrors(text: string): boolean {
  return searchable.test(text);
}

/** Returns the condition that an error contains the text, ignoring case.
 *  @param report the alias of the report table in the query */
export function errorContains(report: string, text: string): RawBuilder<boolean> {
  const error = sql.ref(`${report}.error`);
  // The expression must be the same as in the index `run_reports_by_error`, so that Postgres uses the index.
  return sql<boolean>`${error} IS NOT NULL
    AND lower((${error} ->> 'type') || ': ' || (${error} ->> 'message')) LIKE ${containing(text)}`;
}

/** Returns the runs whose error contains the text. */
export async function runsWithError(
  db: ReadModels,
  runIds: readonly string[],
  text: string,
): Promise<ReadonlySet<string>> {
  if (runIds.length === 0) return new Set();
  const { rows } = await sql<{ run_id: RunId }>`
    SELECT report.run_id FROM run_reports report
    WHERE report.run_id = ANY(${runIds}::uuid[]) AND ${errorContains('report', text)}`.execute(db);
  return new Set(rows.map((row) => row.run_id));
}

/** Returns the condition that a run's error contains the text. The errors are looked up in the index first.
 *  Otherwise, the query could read millions of runs without a match. */
export function runHasError(text: string): RawBuilder<boolean> {
  return sql`run_id IN (WITH found AS MATERIALIZED (
      SELECT report.run_id FROM run_reports report WHERE ${errorContains('report', text)}
    ) SELECT found.run_id FROM found)`;
}
