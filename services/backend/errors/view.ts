/** Formats error groups for API responses. */
import { platformError } from '#domain/run/error/error.ts';
import { readReports } from '#infra/postgres/logs/run-reports.ts';
import { dailyFailures, type ErrorGroupRow } from '#projections/error-groups/queries.ts';
import type { Services } from '../services.ts';

/** Error groups, each with its last error. */
export async function errorGroupsJson(
  rows: readonly ErrorGroupRow[],
  { database, readModels, clock }: Pick<Services, 'database' | 'readModels' | 'clock'>,
) {
  const [reports, trends] = await Promise.all([
    readReports(
      database,
      rows.map((row) => row.last_run_id),
    ),
    dailyFailures(
      readModels,
      rows.map((row) => row.error_group_id),
      clock.now(),
    ),
  ]);
  return rows.map((row) => {
    // If the script was purged, the error's text no longer exists.
    const error = reports.get(row.last_run_id)?.error ?? platformError('exit_code');
    const at = error.frames.findLast((frame) => frame.own);
    return {
      id: row.error_group_id,
      type: error.type,
      message: error.message,
      place: at === undefined ? null : `${at.file}:${at.line}`,
      script_ids: row.script_ids,
      script_name: row.script_name,
      first_seen: row.first_seen,
      last_seen: row.last_seen,
      count: row.count,
      first_version: row.first_version,
      last_version: row.last_version,
      trend: trends.get(row.error_group_id) ?? [],
      last_run_id: row.last_run_id,
      status: row.status,
      resolved_in_version: row.status === 'resolved' ? row.resolved_in_version : null,
      ignored_until: row.status === 'ignored' ? row.ignored_until : null,
    };
  });
}
