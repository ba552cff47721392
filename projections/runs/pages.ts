/** Pages of runs, newest first. The cost of a page is proportional to its rows, regardless of the length of the
 *  history and the selectivity of the filter.
 *  A page is merged from branches. A branch is a range of one index in list order: the runs of a script or a
 *  group, optionally with one outcome and one trigger. Unfinished runs are in the queue, which is short. */
import { runStatuses, triggerTypes, type RunStatus, type TriggerType } from '#domain/run/run.ts';
import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';
import type { RunListFilter } from './list-filter.ts';
import { runColumns, type RunsTable } from './table.ts';

/** Columns that are needed only to execute a run. Reading them would double the time of a list. */
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

/** A run as lists read it. */
export type ListedRun = Omit<RunsTable, (typeof unlisted)[number]>;

/** The selected columns of `runs`. The row type is only for the compiler. */
export interface Columns<Row> extends RawBuilder<unknown> {
  readonly row?: Row;
}

/** The columns of a listed run. */
export const listed: Columns<ListedRun> = sql.join(
  Object.keys(runColumns)
    .filter((name) => !(unlisted as readonly string[]).includes(name))
    .map((name) => sql.ref(name)),
);

/** One page; at most `limit` rows.
 *  @param places the ranges to read
 *  @param range the condition on `run_id` */
export async function readPage<Row>(
  db: ReadModels,
  filter: RunListFilter,
  places: Places,
  { columns, range, limit }: PageRows<Row>,
): Promise<readonly Row[]> {
  if (places?.ids.length === 0) return [];
  // The limit is inlined as text: a statement with an unknown limit is planned for all rows.
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

/** Selects keys first. The planner estimates correctly if an index contains all columns of the query. Otherwise, the
 *  query may read millions of other runs.
 *  @returns `undefined` if no run can match */
function keysOf(page: Page): RawBuilder<boolean> | undefined {
  const keys = [...endedKeys(page), ...activeKeys(page)];
  return keys.length === 0
    ? undefined
    : sql`run_id = ANY(ARRAY(
        SELECT run_id FROM (${sql.join(keys, sql` UNION ALL `)})
        found ORDER BY run_id DESC LIMIT ${page.most}))`;
}

/** The ranges to read; `undefined` for all runs. */
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

/** The ranges that contain the runs of a filter. */
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

/** The ranges of the history's indexes that contain the page. */
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

/** With more branches, planning costs more than reading. */
export const maxMerged = 64;

/** Keys of runs from the history's indexes. */
function endedKeys(page: Page): RawBuilder<unknown>[] {
  const branches = branchesOf(page);
  if (branches.length > maxMerged) return [nearestKeys(page, branches)];
  return branches.map(
    (branch) => sql`(SELECT run_id FROM runs WHERE ${conditions(page, valuesOf(branch))}
      ORDER BY run_id DESC LIMIT ${page.most})`,
  );
}

/** Like `endedKeys`, for many branches. Only the branches whose first rows are the newest contain rows of the page. */
function nearestKeys(page: Page, branches: readonly Branch[]): RawBuilder<unknown> {
  const { ending, trigger } = branches[0] ?? {};
  const where = conditions(page, {
    place: sql`ANY(ARRAY[wanted_place])`,
    ending: ending && sql`wanted_ending`,
    trigger: trigger && sql`wanted_trigger`,
  });
  // Only one index has this order, so Postgres must use this index (as in `newestRuns`).
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

/** A branch in SQL: as values, or as columns of a list of branches. */
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

/** Requires that the script is currently in one of these groups, because the script may have been in other groups
 *  before. Otherwise, the query would read all runs of the script without a match. */
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

/** Keys of unfinished runs, if they need a separate lookup. */
function activeKeys(page: Page): RawBuilder<unknown>[] {
  const { places, filter, range, most } = page;
  const { statuses, triggerTypes: triggers } = filter;
  const active = activeStatuses.filter((status) => statuses?.includes(status) ?? true);
  // Without either filter, unfinished runs are in the same ranges as the others.
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
