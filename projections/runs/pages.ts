/** Reads pages of runs, newest first. The cost of a page grows only with its number of rows. It does not depend on
 *  the length of the history or the selectivity of the filter. A page is merged from branches. Each branch is a
 *  range of one index in list order. It contains the runs of a script or a group, optionally with one outcome and
 *  one trigger. Unfinished runs are in the queue, which is short. */
import { runStatuses, triggerTypes, type RunStatus, type TriggerType } from '#domain/run/run.ts';
import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';
import type { RunListFilter } from './list-filter.ts';
import { runColumns, type RunsTable } from './table.ts';

/** Columns that are needed only to execute a run. Reading these columns would make lists take twice as long. */
const unlisted = [
  'limits',
  'environment',
  'python',
  'resolution',
  'start_mode',
  'listen_ports',
  'entrypoint',
  'layers',
  'available_at',
  'fence',
  'ended_as',
] as const satisfies readonly (keyof RunsTable)[];

/** A run with the columns that lists read. */
export type ListedRun = Omit<RunsTable, (typeof unlisted)[number]>;

/** The columns to select from `runs`. Only the compiler uses the row type. */
export interface Columns<Row> extends RawBuilder<unknown> {
  readonly row?: Row;
}

/** The columns of a run in a list. */
export const listed: Columns<ListedRun> = sql.join(
  Object.keys(runColumns)
    .filter((name) => !(unlisted as readonly string[]).includes(name))
    .map((name) => sql.ref(name)),
);

/** Reads one page with at most `limit` runs.
 *  @param places the index ranges to read
 *  @param range the condition on `run_id` */
export async function readPage<Row>(
  db: ReadModels,
  filter: RunListFilter,
  places: Places,
  { columns, range, limit }: PageRows<Row>,
): Promise<readonly Row[]> {
  if (places?.ids.length === 0) return [];
  // The limit is inlined into the SQL text. Without a known limit, Postgres would plan the statement for all rows.
  const page: Page = { filter, places, range, most: sql.lit(limit) };
  const where = isEverything(page) ? page.range : keysOf(page);
  if (where === undefined) return [];
  const { rows } = await sql<Row>`
    SELECT ${columns} FROM runs WHERE ${where} ORDER BY run_id DESC LIMIT ${page.most}`.execute(db);
  return rows;
}

interface PageRows<Row> {
  readonly columns: Columns<Row>;
  readonly range: RawBuilder<boolean>;
  readonly limit: number;
}

/** Returns a query for the keys of the page's runs. The planner's estimates are correct only if an index contains
 *  all columns of the query. Otherwise, the query could read millions of other runs.
 *  @returns `undefined` if no run can match */
function keysOf(page: Page): RawBuilder<boolean> | undefined {
  const keys = [...endedKeys(page), ...activeKeys(page)];
  return keys.length === 0
    ? undefined
    : sql`run_id = ANY(ARRAY(
        SELECT run_id FROM (${sql.join(keys, sql` UNION ALL `)})
        found ORDER BY run_id DESC LIMIT ${page.most}))`;
}

/** The index ranges to read. `undefined` means all runs. */
export type Places =
  | { readonly column: 'group_id' | 'script_id'; readonly ids: readonly string[] }
  | undefined;

interface Page {
  readonly filter: RunListFilter;
  readonly places: Places;
  /** The condition on `run_id`. */
  readonly range: RawBuilder<boolean>;
  readonly most: RawBuilder<unknown>;
}

/** Returns the index ranges that contain the runs of a filter. */
export function placesOf({ groupIds, scriptId }: RunListFilter): Places {
  if (scriptId !== undefined) return { column: 'script_id', ids: [scriptId] };
  return groupIds === null ? undefined : { column: 'group_id', ids: groupIds };
}

const activeStatuses: readonly RunStatus[] = ['queued', 'running'];
const endings = runStatuses.filter((status) => !activeStatuses.includes(status));

interface Branch {
  readonly place: string | undefined;
  readonly ending: RunStatus | undefined;
  readonly trigger: TriggerType | undefined;
}

function isEverything({ places, filter: { statuses, triggerTypes: triggers } }: Page): boolean {
  return places === undefined && statuses === undefined && triggers === undefined;
}

/** Returns the ranges of the history's indexes that contain the runs of the page. */
function branchesOf({ filter, places }: Page): Branch[] {
  const { statuses, triggerTypes: wanted } = filter;
  const isByKind = statuses !== undefined || wanted !== undefined;
  const ways = endings.filter((ending) => statuses?.includes(ending) ?? true);
  const triggers = wanted ?? triggerTypes;
  const kinds = isByKind
    ? ways.flatMap((ending) => triggers.map((trigger) => ({ ending, trigger })))
    : [{ ending: undefined, trigger: undefined }];
  return (places?.ids ?? [undefined]).flatMap((place) =>
    kinds.map((kind): Branch => ({ place, ...kind })),
  );
}

/** The maximum number of branches that one query merges. With more branches, planning the query would take longer
 *  than reading the rows. */
export const maxMerged = 64;

/** Returns queries for the keys of finished runs from the history's indexes. */
function endedKeys(page: Page): RawBuilder<unknown>[] {
  const branches = branchesOf(page);
  if (branches.length > maxMerged) return [nearestKeys(page, branches)];
  return branches.map(
    (branch) => sql`(SELECT run_id FROM runs WHERE ${conditions(page, valuesOf(branch))}
      ORDER BY run_id DESC LIMIT ${page.most})`,
  );
}

/** Like `endedKeys`, but for many branches. Only the branches whose first rows are the newest can contain rows of
 *  the page. */
function nearestKeys(page: Page, branches: readonly Branch[]): RawBuilder<unknown> {
  const { ending, trigger } = branches[0] ?? {};
  const where = conditions(page, {
    place: sql`ANY(ARRAY[wanted_place])`,
    ending: ending && sql`wanted_ending`,
    trigger: trigger && sql`wanted_trigger`,
  });
  // Only one index has this order, which makes Postgres use that index (see `newestRuns`).
  const place = sql.ref(page.places?.column ?? 'run_id');
  const order = ending === undefined ? sql`${place}, run_id DESC` : sql`${place} DESC, run_id DESC`;
  const column = (name: keyof Branch) => branches.map((branch) => branch[name] ?? null);
  return sql`(
    SELECT one.run_id FROM (
      SELECT branch.* FROM unnest(${column('place')}::uuid[], ${column('ending')}::text[],
        ${column('trigger')}::text[]) AS branch (wanted_place, wanted_ending, wanted_trigger)
      CROSS JOIN LATERAL (
        SELECT run_id FROM runs WHERE ${where} ORDER BY ${order} LIMIT 1
      ) newest ORDER BY newest.run_id DESC LIMIT ${page.most}
    ) near CROSS JOIN LATERAL (
      SELECT run_id FROM runs WHERE ${where} ORDER BY ${order} LIMIT ${page.most}
    ) one ORDER BY one.run_id DESC LIMIT ${page.most})`;
}

/** A branch in SQL. Its parts are either values, or columns of a list of branches. */
interface BranchSql {
  readonly place: RawBuilder<unknown>;
  readonly ending: RawBuilder<unknown> | undefined;
  readonly trigger: RawBuilder<unknown> | undefined;
}

function valuesOf({ place, ending, trigger }: Branch): BranchSql {
  return {
    place: sql`${place}::uuid`,
    ending: ending && sql`${ending}`,
    trigger: trigger && sql`${trigger}`,
  };
}

function conditions(page: Page, { place, ending, trigger }: BranchSql): RawBuilder<unknown> {
  const { places, range } = page;
  return sql.join(
    [
      range,
      ...(places === undefined ? [] : [sql`${sql.ref(places.column)} = ${place}`]),
      ...(ending === undefined ? [] : [sql`ended_as = ${ending}`]),
      ...(trigger === undefined ? [] : [sql`trigger_type = ${trigger}`]),
      ...ownGroups(page),
    ],
    sql` AND `,
  );
}

/** Returns the condition that the script is currently in one of these groups. The script may have been in other
 *  groups before. Without this condition, the query could read all runs of the script without finding a match. */
function ownGroups({ places, filter: { groupIds, scriptId } }: Page): RawBuilder<unknown>[] {
  if (places?.column !== 'script_id' || groupIds === null) return [];
  const own = sql`runs.group_id = ANY(${groupIds}::uuid[])`;
  if (scriptId === undefined) return [own];
  return [
    own,
    sql`EXISTS (SELECT FROM scripts WHERE scripts.script_id = ${scriptId}::uuid
      AND scripts.group_id = ANY(${groupIds}::uuid[]))`,
  ];
}

/** Returns queries for the keys of unfinished runs, if a separate lookup is necessary. */
function activeKeys(page: Page): RawBuilder<unknown>[] {
  const { places, filter, range, most } = page;
  const { statuses, triggerTypes: triggers } = filter;
  const active = activeStatuses.filter((status) => statuses?.includes(status) ?? true);
  // Without a status or trigger filter, unfinished runs are in the same ranges as finished runs.
  if (active.length === 0 || (statuses === undefined && triggers === undefined)) return [];
  const where = [
    range,
    ...(places === undefined
      ? []
      : [sql`runs.${sql.ref(places.column)} = ANY(${places.ids}::uuid[])`]),
    ...(statuses === undefined ? [] : [sql`runs.status = ANY(${active}::text[])`]),
    ...(triggers === undefined ? [] : [sql`runs.trigger_type = ANY(${triggers}::text[])`]),
    ...ownGroups(page),
  ];
  return [
    sql`(SELECT run_id FROM run_queue queue JOIN runs USING (run_id)
      WHERE ${sql.join(where, sql` AND `)} ORDER BY run_id DESC LIMIT ${most})`,
  ];
}
