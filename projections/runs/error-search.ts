/** Searches the text of errors, which is in `run_reports` so that a purge removes it. */
import type { RunId } from '#domain/kernel/ids.ts';
import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';
import { containing } from '../scripts/search.ts';

/** The index needs three characters of a word. */
const searchable = /[\p{L}\p{N}]{3}/u;

/** Whether the text is long enough for a search in errors. */
export function canSearchErrors(text: string): boolean {
  return searchable.test(text);
}

/** The condition that the error of a report contains this text, ignoring case.
 *  @param report the name of the table in the query */
export function errorContains(report: string, text: string): RawBuilder<boolean> {
  const error = sql.ref(`${report}.error`);
  // The same expression as in the index `run_reports_by_error`, so that Postgres uses the index.
  return sql<boolean>`${error} IS NOT NULL
    AND lower((${error} ->> 'type') || ': ' || (${error} ->> 'message')) LIKE ${containing(text)}`;
}

/** The runs whose error contains this text. */
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

/** The condition that the error of a run contains this text. The index finds the errors first: otherwise the query
 *  may read millions of runs without a match. */
export function runHasError(text: string): RawBuilder<boolean> {
  return sql`run_id IN (WITH found AS MATERIALIZED (
      SELECT report.run_id FROM run_reports report WHERE ${errorContains('report', text)}
    ) SELECT found.run_id FROM found)`;
}
