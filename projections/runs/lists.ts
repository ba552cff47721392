/** Lists runs, newest first, filtered by script, status, trigger, time, error and text. */
import type { GroupId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import { sql, type RawBuilder } from 'kysely';
import { errorGroupIdOf } from '../error-groups/queries.ts';
import type { ReadModels } from '../projection.ts';
import { searchScripts } from '../scripts/search.ts';
import { canSearchErrors, runHasError, runsWithError } from './error-search.ts';
import { filterConditions, idStartsWith, rangeOf, type RunListFilter } from './list-filter.ts';
import { listed, maxMerged, placesOf, readPage, type Columns, type ListedRun } from './pages.ts';

/** Lists runs, newest first, starting after `after`. Returns at most `limit` runs. */
export async function listRuns(
  db: ReadModels,
  filter: RunListFilter,
  after: RunId | undefined,
  limit: number,
): Promise<readonly ListedRun[]> {
  return await readRuns(db, filter, { after, limit, columns: listed });
}

/** The columns that every query for a page selects. */
type RunKey = Pick<ListedRun, 'run_id' | 'script_id'>;

/** A page of at most `limit` runs after `after`. */
interface PageOf<Row extends RunKey> {
  readonly after: RunId | undefined;
  readonly limit: number;
  readonly columns: Columns<Row>;
}

/** Like `listRuns`, but reads only the given columns. */
export async function readRuns<Row extends RunKey>(
  db: ReadModels,
  filter: RunListFilter,
  page: PageOf<Row>,
): Promise<readonly Row[]> {
  const { notGroupId, notScriptId, ...wanted } = filter;
  const groupIds =
    notGroupId === undefined
      ? wanted.groupIds
      : (wanted.groupIds ?? (await groupsOfRuns(db))).filter((group) => group !== notGroupId);
  const own = { ...wanted, groupIds };
  if (own.errorGroupId !== undefined)
    return await pageOfErrorGroup(db, { ...filter, groupIds }, page);
  if (own.text !== undefined) return await pageOfText(db, { ...filter, groupIds }, own.text, page);
  return notScriptId === undefined
    ? await readPage(db, own, placesOf(own), { ...page, range: rangeOf(own, page.after) })
    : await pageOfChosen(db, own, notScriptId, page);
}

/** Reads the runs with one error from the index of errors. */
async function pageOfErrorGroup<Row extends RunKey>(
  db: ReadModels,
  filter: RunListFilter,
  { after, limit, columns }: PageOf<Row>,
): Promise<readonly Row[]> {
  const { text, errorGroupId } = filter;
  const named =
    text === undefined ? [] : await searchScripts(db, { groupIds: filter.groupIds, text });
  const matches =
    text === undefined
      ? sql`true`
      : sql`(script_id = ANY(${named}::uuid[]) OR ${idStartsWith(text) ?? sql`false`}
          OR ${canSearchErrors(text) ? runHasError(text) : sql`false`})`;
  const { rows } = await sql<Row>`
    SELECT ${columns} FROM runs
    WHERE error_fingerprint IS NOT NULL AND ${sql.raw(errorGroupIdOf('runs'))} = ${errorGroupId}::uuid
      AND ${filterConditions(filter, after)} AND ${matches}
    ORDER BY run_id DESC LIMIT ${sql.lit(limit)}`.execute(db);
  return rows;
}

/** Reads the runs whose script name, error or ID contains the text. The newest runs of three lists are merged. */
async function pageOfText<Row extends RunKey>(
  db: ReadModels,
  { notScriptId, ...filter }: RunListFilter,
  text: string,
  page: PageOf<Row>,
): Promise<readonly Row[]> {
  const withoutText = { ...filter, ...(notScriptId && { notScriptId }) };
  const ids = idStartsWith(text);
  const found = [
    ...(await pageOfChosen(db, filter, notScriptId, page)),
    ...(ids === undefined ? [] : await flatPage(db, withoutText, ids, page)),
    ...(canSearchErrors(text) ? await pageOfErrors(db, withoutText, text, page) : []),
  ];
  const byId = new Map(found.map((run) => [run.run_id, run]));
  const newestFirst = [...byId.values()].toSorted((one, other) =>
    one.run_id < other.run_id ? 1 : -1,
  );
  return newestFirst.slice(0, page.limit);
}

/** The number of newest failed runs whose errors are read before the index of errors is searched. */
const errorsLookedThrough = 200;

/** Reads the runs whose error contains the text. The newest errors are read first, where a frequent text is found
 *  quickly. A rare text is then found through the index. */
async function pageOfErrors<Row extends RunKey>(
  db: ReadModels,
  filter: RunListFilter,
  text: string,
  page: PageOf<Row>,
): Promise<readonly Row[]> {
  const { statuses, notScriptId, ...wanted } = filter;
  if (statuses?.includes('failed') === false) return [];
  const failed = { ...wanted, statuses: ['failed'] } as const;
  const near = await readPage(db, failed, placesOf(failed), {
    columns: page.columns,
    range: rangeOf(failed, page.after),
    limit: errorsLookedThrough,
  });
  const matching = await runsWithError(
    db,
    near.map((run) => run.run_id),
    text,
  );
  const found = near.filter((run) => matching.has(run.run_id) && run.script_id !== notScriptId);
  if (found.length >= page.limit || near.length < errorsLookedThrough)
    return found.slice(0, page.limit);
  const all = { ...filter, statuses: failed.statuses };
  return await flatPage(db, all, runHasError(text), page);
}

/** Reads runs with a condition that only a few runs meet. */
async function flatPage<Row extends RunKey>(
  db: ReadModels,
  filter: RunListFilter,
  condition: RawBuilder<boolean>,
  { after, limit, columns }: PageOf<Row>,
): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
    WITH few AS MATERIALIZED (SELECT run_id FROM runs WHERE ${condition} AND ${filterConditions(filter, after)})
    SELECT ${columns} FROM runs WHERE run_id = ANY(ARRAY(
      SELECT run_id FROM few ORDER BY run_id DESC LIMIT ${sql.lit(limit)})) ORDER BY run_id DESC`.execute(
    db,
  );
  return rows;
}

/** Returns the groups that exist and the groups that have runs. Each group takes one index lookup. */
async function groupsOfRuns(db: ReadModels): Promise<readonly GroupId[]> {
  const { rows } = await sql<{ group_id: GroupId }>`
    WITH RECURSIVE present AS (
      (SELECT group_id FROM runs ORDER BY group_id LIMIT 1)
      UNION ALL
      SELECT (SELECT group_id FROM runs WHERE group_id > present.group_id ORDER BY group_id LIMIT 1)
      FROM present WHERE present.group_id IS NOT NULL
    )
    SELECT group_id FROM present WHERE group_id IS NOT NULL UNION SELECT group_id FROM groups`.execute(
    db,
  );
  return rows.map((row) => row.group_id);
}

/** The maximum number of pages that are scanned for runs of many scripts. The pages also contain runs of other
 *  scripts. */
const pagesLookedThrough = 2;

/** Reads the runs of individually selected scripts. With a group filter, the scripts must currently be in one of the
 *  groups. */
async function pageOfChosen<Row extends RunKey>(
  db: ReadModels,
  filter: RunListFilter,
  notScriptId: ScriptId | undefined,
  { after, limit, columns }: PageOf<Row>,
): Promise<readonly Row[]> {
  const { text, ...ofAll } = filter;
  const range = rangeOf(filter, after);
  const chosen = async (among?: readonly string[]) => {
    const ids = await searchScripts(db, among === undefined ? filter : { ...filter, among });
    return ids.filter((id) => id !== notScriptId);
  };
  const pageOfScripts = (ids: readonly string[]) =>
    readPage(db, ofAll, { column: 'script_id', ids }, { columns, range, limit });
  const named = text === undefined ? undefined : await chosen();
  if (named !== undefined && named.length <= maxMerged) return await pageOfScripts(named);
  const most = pagesLookedThrough * limit;
  const near = await readPage(db, ofAll, placesOf(ofAll), { columns, range, limit: most });
  const there = [...new Set(near.map((run) => run.script_id))].filter((id) => id !== notScriptId);
  const meant = new Set(named ?? (filter.groupIds === null ? there : await chosen(there)));
  const found = near.filter((run) => meant.has(run.script_id)).slice(0, limit);
  if (found.length === limit || near.length < most) return found;
  // A further scan could read millions of other runs before the next match.
  return await pageOfScripts(named ?? (await chosen()));
}
