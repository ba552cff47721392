/** Groups of failed runs that have one error. They are computed from the runs, so a rebuild gives the same. */
import type { ErrorGroupStatus } from '#domain/error-group/error-group.ts';
import {
  mustParse,
  parseErrorGroupId,
  type ErrorGroupId,
  type GroupId,
  type RunId,
  type ScriptId,
} from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

export interface ErrorGroupRow {
  readonly error_group_id: string;
  readonly group_id: string;
  readonly script_ids: readonly string[];
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly count: number;
  readonly last_run_id: string;
  readonly status: ErrorGroupStatus;
  readonly resolved_in_version: number | null;
  readonly ignored_until: Date | null;
}

export interface ErrorGroupFilter {
  /** Groups of people to look in; `null` for all. */
  readonly groupIds: readonly GroupId[] | null;
  readonly scriptId: ScriptId | null;
  readonly status: ErrorGroupStatus | null;
  /** Groups that were seen at this time or later. */
  readonly since: Date | null;
  /** Part of the type or message of the last error, ignoring case. */
  readonly text: string | null;
}

/** The id of the group that a run with an error belongs to, in SQL. @param run the name of the run's table */
export const errorGroupIdOf = (run: string): string =>
  `md5(${run}.group_id::text || ${run}.error_fingerprint)::uuid`;

const grouped = `
  SELECT ${errorGroupIdOf('r')} AS error_group_id, r.group_id, array_agg(DISTINCT r.script_id) AS script_ids,
    min(r.finished_at) AS first_seen, max(r.finished_at) AS last_seen, count(*)::integer AS count,
    (array_agg(r.run_id ORDER BY r.run_id DESC))[1] AS last_run_id
  FROM runs r
  WHERE r.error_fingerprint IS NOT NULL AND ($1::uuid[] IS NULL OR r.group_id = ANY($1))
    AND ($2::uuid IS NULL OR ${errorGroupIdOf('r')} = $2)
  GROUP BY 1, 2`;

const withState = `
  SELECT g.*, s.resolved_in_version, s.ignored_until,
    CASE WHEN s.status = 'ignored' AND s.ignored_until <= clock_timestamp() THEN 'open'
      ELSE coalesce(s.status, 'open') END AS status
  FROM (${grouped}) g LEFT JOIN error_group_states s USING (error_group_id)`;

/** Last seen first, from behind `after`; at most `limit`. */
export async function listErrorGroups(
  db: ReadModels,
  { groupIds, scriptId, status, since, text }: ErrorGroupFilter,
  after: RunId | undefined,
  limit: number,
): Promise<readonly ErrorGroupRow[]> {
  return await manyGroups(db, groupIds, null, scriptId, status, since, after ?? null, limit, text);
}

const manyGroups = statement<ErrorGroupRow>(`
  SELECT * FROM (${withState}) known
  WHERE ($3::uuid IS NULL OR $3 = ANY(script_ids)) AND ($4::text IS NULL OR status = $4)
    AND ($5::timestamptz IS NULL OR last_seen >= $5) AND ($6::uuid IS NULL OR last_run_id < $6)
    AND ($8::text IS NULL OR EXISTS (SELECT FROM run_reports report WHERE report.run_id = last_run_id
      AND strpos(lower((report.error ->> 'type') || ': ' || (report.error ->> 'message')), lower($8)) > 0))
  ORDER BY last_run_id DESC LIMIT $7`);

/** One group; `undefined`: not found in these groups of people. */
export async function findErrorGroup(
  db: ReadModels,
  groupIds: readonly GroupId[] | null,
  errorGroupId: ErrorGroupId,
): Promise<ErrorGroupRow | undefined> {
  return (await oneGroup(db, groupIds, errorGroupId))[0];
}

const oneGroup = statement<ErrorGroupRow>(withState);

/** The resolved group of a run that failed, with the script version of the run. */
export async function resolvedErrorGroupOf(
  db: ReadModels,
  runId: RunId,
): Promise<{ readonly errorGroupId: ErrorGroupId; readonly version: number } | undefined> {
  const [row] = await resolvedGroup(db, runId);
  if (row === undefined) return undefined;
  return {
    errorGroupId: mustParse(parseErrorGroupId, row.error_group_id),
    version: row.script_version,
  };
}

const resolvedGroup = statement<{
  readonly error_group_id: string;
  readonly script_version: number;
}>(`
  SELECT s.error_group_id, r.script_version
  FROM runs r JOIN error_group_states s ON s.error_group_id = ${errorGroupIdOf('r')}
  WHERE r.run_id = $1 AND r.error_fingerprint IS NOT NULL AND s.status = 'resolved'`);

/** The number of runs with the error of this run, up to the end of this run; counted up to `most`. 0 if the run has
 *  no error, or if users ignore the error. */
export async function errorOccurrences(
  db: ReadModels,
  runId: RunId,
  most: number,
): Promise<number> {
  const [row] = await occurrences(db, runId, most);
  return row?.count ?? 0;
}

const occurrences = statement<{ readonly count: number }>(`
  SELECT count(*)::integer AS count FROM (
    SELECT FROM runs this JOIN runs r ON ${errorGroupIdOf('r')} = ${errorGroupIdOf('this')}
      AND r.error_fingerprint IS NOT NULL
    WHERE this.run_id = $1 AND this.error_fingerprint IS NOT NULL
      AND (r.finished_at, r.run_id) <= (this.finished_at, this.run_id)
      AND NOT EXISTS (SELECT FROM error_group_states s WHERE s.error_group_id = ${errorGroupIdOf('this')}
        AND s.status = 'ignored' AND (s.ignored_until IS NULL OR s.ignored_until > this.finished_at))
    LIMIT $2) counted`);
