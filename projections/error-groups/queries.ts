/** Queries for error groups, which are failed runs with the same error. The groups are computed from the runs, so a
 *  rebuild results in the same groups. */
import type { ErrorGroupStatus } from '#domain/error-group/error-group.ts';
import {
  mustParse,
  parseErrorGroupId,
  parseScriptId,
  type ErrorGroupId,
  type GroupId,
  type RunId,
  type ScriptId,
} from '#domain/kernel/ids.ts';
import type { ResolvedErrorGroup, RunErrorGroup } from '#domain/reactions/reaction.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

export interface ErrorGroupRow {
  readonly error_group_id: string;
  readonly group_id: string;
  readonly script_ids: readonly string[];
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly count: number;
  /** The lowest and highest script version in which the error occurred. */
  readonly first_version: number;
  readonly last_version: number;
  readonly last_run_id: string;
  /** The script name of the latest run with the error. */
  readonly script_name: string;
  readonly status: ErrorGroupStatus;
  readonly resolved_in_version: number | null;
  readonly ignored_until: Date | null;
}

export interface ErrorGroupFilter {
  /** Returns only errors in these groups of scripts. `null` means all groups. */
  readonly groupIds: readonly GroupId[] | null;
  readonly scriptId: ScriptId | null;
  readonly status: ErrorGroupStatus | null;
  /** Returns only error groups whose latest error occurred at or after this time. */
  readonly since: Date | null;
  /** Text that must occur in the type or message of the latest error. Case is ignored. */
  readonly text: string | null;
}

/** Returns an SQL expression for the ID of the error group to which a run belongs. @param run the alias of the run's
 *  table */
export const errorGroupIdOf = (run: string): string =>
  `md5(${run}.group_id::text || ${run}.error_fingerprint)::uuid`;

/** Returns an SQL query for the decision to ignore a run's error. The decision must have been in effect when the run
 *  ended. */
function ignoredAt(run: string): string {
  return `SELECT FROM error_group_states s WHERE s.error_group_id = ${errorGroupIdOf(run)}
    AND s.status = 'ignored' AND (s.ignored_until IS NULL OR s.ignored_until > ${run}.finished_at)`;
}

const grouped = `
  SELECT ${errorGroupIdOf('r')} AS error_group_id, r.group_id, array_agg(DISTINCT r.script_id) AS script_ids,
    min(r.finished_at) AS first_seen, max(r.finished_at) AS last_seen, count(*)::integer AS count,
    min(r.script_version) AS first_version, max(r.script_version) AS last_version,
    (array_agg(r.run_id ORDER BY r.run_id DESC))[1] AS last_run_id,
    (array_agg(r.script_name ORDER BY r.run_id DESC))[1] AS script_name
  FROM runs r
  WHERE r.error_fingerprint IS NOT NULL AND ($1::uuid[] IS NULL OR r.group_id = ANY($1))
    AND ($2::uuid IS NULL OR ${errorGroupIdOf('r')} = $2)
  GROUP BY 1, 2`;

const withState = `
  SELECT g.*, s.resolved_in_version, s.ignored_until,
    CASE WHEN s.status = 'ignored' AND s.ignored_until <= clock_timestamp() THEN 'open'
      ELSE coalesce(s.status, 'open') END AS status
  FROM (${grouped}) g LEFT JOIN error_group_states s USING (error_group_id)`;

/** Lists error groups, starting with the latest error and after `after`. Returns at most `limit` groups. */
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

/** The number of days that `dailyFailures` covers. */
export const trendDays = 14;

/** Returns the number of failed runs of each error group per day, oldest day first. The last day ends at `now`. */
export async function dailyFailures(
  db: ReadModels,
  errorGroupIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rows = errorGroupIds.length === 0 ? [] : await failuresByDay(db, errorGroupIds, now);
  const trends = new Map(errorGroupIds.map((id) => [id, Array<number>(trendDays).fill(0)]));
  for (const { error_group_id: id, days_ago: daysAgo, count } of rows) {
    trends.get(id)?.splice(trendDays - 1 - daysAgo, 1, count);
  }
  return trends;
}

const failuresByDay = statement<{
  readonly error_group_id: string;
  readonly days_ago: number;
  readonly count: number;
}>(`
  SELECT ${errorGroupIdOf('r')} AS error_group_id, count(*)::integer AS count,
    greatest(0, floor(extract(epoch FROM $2::timestamptz - r.finished_at) / 86400))::integer AS days_ago
  FROM runs r
  WHERE r.error_fingerprint IS NOT NULL AND ${errorGroupIdOf('r')} = ANY($1::uuid[])
    AND r.finished_at > $2::timestamptz - make_interval(days => ${trendDays})
  GROUP BY 1, 3`);

/** Returns an error group, or `undefined` if it does not exist in the given groups of scripts. */
export async function findErrorGroup(
  db: ReadModels,
  groupIds: readonly GroupId[] | null,
  errorGroupId: ErrorGroupId,
): Promise<ErrorGroupRow | undefined> {
  return (await oneGroup(db, groupIds, errorGroupId))[0];
}

const oneGroup = statement<ErrorGroupRow>(withState);

/** Returns the resolved error group of a failed run, with the script and the version of the run. */
export async function resolvedErrorGroupOf(
  db: ReadModels,
  runId: RunId,
): Promise<ResolvedErrorGroup | undefined> {
  const [row] = await resolvedGroup(db, runId);
  if (row === undefined) return undefined;
  return {
    errorGroupId: mustParse(parseErrorGroupId, row.error_group_id),
    scriptId: mustParse(parseScriptId, row.script_id),
    version: row.script_version,
  };
}

const resolvedGroup = statement<{
  readonly error_group_id: string;
  readonly script_id: string;
  readonly script_version: number;
}>(`
  SELECT s.error_group_id, r.script_id, r.script_version
  FROM runs r JOIN error_group_states s ON s.error_group_id = ${errorGroupIdOf('r')}
  WHERE r.run_id = $1 AND r.error_fingerprint IS NOT NULL AND s.status = 'resolved'`);

/** Returns the error groups of failed runs, by run ID. Runs without an error are omitted. */
export async function errorGroupsOf(
  db: ReadModels,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, RunErrorGroup>> {
  if (runIds.length === 0) return new Map();
  const rows = await groupsOfRuns(db, runIds);
  return new Map(
    rows.map(({ run_id, error_group_id, ignored }) => [
      run_id,
      { errorGroupId: mustParse(parseErrorGroupId, error_group_id), isIgnored: ignored },
    ]),
  );
}

const groupsOfRuns = statement<{
  readonly run_id: string;
  readonly error_group_id: string;
  readonly ignored: boolean;
}>(`
  SELECT r.run_id, ${errorGroupIdOf('r')} AS error_group_id, EXISTS (${ignoredAt('r')}) AS ignored
  FROM runs r WHERE r.run_id = ANY($1::uuid[]) AND r.error_fingerprint IS NOT NULL`);

/** Returns the number of runs with the same error, up to and including this run. Counting stops at `most`. The
 *  number is 0 if the run has no error or the error is ignored. */
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
      AND NOT EXISTS (${ignoredAt('this')})
    LIMIT $2) counted`);
