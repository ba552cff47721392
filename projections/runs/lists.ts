/** Lists of runs, newest first. The cost of a page is proportional to its rows, regardless of the length of the
 *  history and the selectivity of the filter.
 *  A page is merged from branches. A branch is a range of one index in list order: the runs of a script or a
 *  group, optionally with one outcome and one trigger. Unfinished runs are in the queue, which is short. */
import { inOrderOfTime, type GroupId, type RunId, type ScriptId } from '#domain/kernel/ids.ts';
import { runStatuses, triggerTypes, type RunStatus, type TriggerType } from '#domain/run/run.ts';
import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';
import { searchScripts } from '../scripts/search.ts';
import { runColumns, type RunsTable } from './table.ts';

export interface RunListFilter {
  /** The groups to include; `null` for all. */
  readonly groupIds: readonly GroupId[] | null;
  /** Excludes this group. */
  readonly notGroupId?: GroupId;
  /** The script is, or was when it was deleted, in one of these groups. */
  readonly scriptId?: ScriptId;
  /** Excludes this script. */
  readonly notScriptId?: ScriptId;
  /** Status is one of these. */
  readonly statuses?: readonly RunStatus[];
  /** Trigger is one of these. */
  readonly triggerTypes?: readonly TriggerType[];
  /** Queued at or after this time, and before `to`, according to the run id. */
  readonly from?: Date;
  readonly to?: Date;
  /** Part of the script's current name, ignoring case. */
  readonly text?: string;
}

/** Columns that only execution needs. Reading them would double the time of a list. */
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

export type ListedRun = Omit<RunsTable, (typeof unlisted)[number]>;

const listed = sql.join(
  Object.keys(runColumns)
    .filter((name) => !(unlisted as readonly string[]).includes(name))
    .map((name) => sql.ref(name)),
);

/** Newest first, starting after `after`; at most `limit` rows. */
export async function listRuns(
  db: ReadModels,
  filter: RunListFilter,
  after: RunId | undefined,
  limit: number,
): Promise<readonly ListedRun[]> {
  const { notGroupId, notScriptId, ...wanted } = filter;
  const groupIds =
    notGroupId === undefined
      ? wanted.groupIds
      : (wanted.groupIds ?? (await groupsOfRuns(db))).filter((group) => group !== notGroupId);
  const own = { ...wanted, groupIds };
  return own.text === undefined && notScriptId === undefined
    ? await pageOf(db, own, placesOf(own), after, limit)
    : await pageOfChosen(db, own, notScriptId, after, limit);
}

/** Groups that exist or that have runs, with one index lookup each. */
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

/** Maximum number of pages of all runs that are scanned for runs of many scripts. */
const pagesLookedThrough = 2;

/** Runs of individually selected scripts. With a group filter, the scripts are currently in one of the groups. */
async function pageOfChosen(
  db: ReadModels,
  filter: RunListFilter,
  notScriptId: ScriptId | undefined,
  after: RunId | undefined,
  limit: number,
): Promise<readonly ListedRun[]> {
  const { text, ...ofAll } = filter;
  const chosen = async (among?: readonly string[]) => {
    const ids = await searchScripts(db, among === undefined ? filter : { ...filter, among });
    return ids.filter((id) => id !== notScriptId);
  };
  const pageOfScripts = (ids: readonly string[]) =>
    pageOf(db, ofAll, { column: 'script_id', ids }, after, limit);
  const named = text === undefined ? undefined : await chosen();
  if (named !== undefined && named.length <= maxMerged) return await pageOfScripts(named);
  const most = pagesLookedThrough * limit;
  const near = await pageOf(db, ofAll, placesOf(ofAll), after, most);
  const there = [...new Set(near.map((run) => run.script_id))].filter((id) => id !== notScriptId);
  const meant = new Set(named ?? (filter.groupIds === null ? there : await chosen(there)));
  const found = near.filter((run) => meant.has(run.script_id)).slice(0, limit);
  if (found.length === limit || near.length < most) return found;
  // Millions of other runs may precede the next matching one.
  return await pageOfScripts(named ?? (await chosen()));
}

async function pageOf(
  db: ReadModels,
  filter: RunListFilter,
  places: Places,
  after: RunId | undefined,
  limit: number,
): Promise<readonly ListedRun[]> {
  if (places?.ids.length === 0) return [];
  // As text: a statement with an unknown limit is planned for all rows.
  const page: Page = { filter, places, range: rangeOf(filter, after), most: sql.lit(limit) };
  const where = isEverything(page) ? page.range : keysOf(page);
  if (where === undefined) return [];
  const { rows } = await sql<ListedRun>`
    SELECT ${listed} FROM runs WHERE ${where} ORDER BY run_id DESC LIMIT ${page.most}`.execute(db);
  return rows;
}

/** Selects keys first. With an index that covers the query, the planner estimates correctly. With an index that
 *  covers a part of it, the query may read millions of other runs.
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
type Places =
  | { readonly column: 'group_id' | 'script_id'; readonly ids: readonly string[] }
  | undefined;

interface Page {
  readonly filter: RunListFilter;
  readonly places: Places;
  /** The condition on `run_id`. */
  readonly range: RawBuilder<boolean>;
  readonly most: RawBuilder<unknown>;
}

function placesOf({ groupIds, scriptId }: RunListFilter): Places {
  if (scriptId !== undefined) return { column: 'script_id', ids: [scriptId] };
  return groupIds === null ? undefined : { column: 'group_id', ids: groupIds };
}

const noId = '00000000-0000-0000-0000-000000000000';
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

function rangeOf({ from, to }: RunListFilter, after: RunId | undefined): RawBuilder<boolean> {
  const first = from === undefined ? noId : firstIdOf(from);
  const end = to === undefined ? lastId : firstIdOf(to);
  const before = after === undefined || after > end ? end : after;
  return sql`run_id >= ${first}::uuid AND run_id < ${before}::uuid`;
}

/** The first id of a time; ids begin with 1970. */
function firstIdOf(time: Date): string {
  return inOrderOfTime(noId, new Date(Math.max(0, time.getTime())));
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

// With more branches, planning costs more than reading.
const maxMerged = 64;

/** Keys of runs from the history's indexes. */
function endedKeys(page: Page): RawBuilder<unknown>[] {
  const branches = branchesOf(page);
  if (branches.length > maxMerged) return [nearestKeys(page, branches)];
  return branches.map(
    (branch) => sql`(SELECT run_id FROM runs WHERE ${conditions(page, valuesOf(branch))}
      ORDER BY run_id DESC LIMIT ${page.most})`,
  );
}

/** The same for many branches: the rows of a page are in the branches with the newest first rows. */
function nearestKeys(page: Page, branches: readonly Branch[]): RawBuilder<unknown> {
  const { ending, trigger } = branches[0] ?? {};
  const where = conditions(page, {
    place: sql`ANY(ARRAY[wanted_place])`,
    ending: ending && sql`wanted_ending`,
    trigger: trigger && sql`wanted_trigger`,
  });
  // As in `newestRuns`: only one index has this order.
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

/** A script that may have been in other groups before is in one of these groups now. Otherwise the query would
 *  read all of its runs without a match. */
function ownGroups({ places, filter: { groupIds, scriptId } }: Page): RawBuilder<unknown>[] {
  if (places?.column !== 'script_id' || groupIds === null) return [];
  const own = sql`group_id = ANY(${groupIds}::uuid[])`;
  if (scriptId === undefined) return [own];
  return [own, sql`EXISTS (SELECT FROM scripts WHERE script_id = ${scriptId}::uuid AND ${own})`];
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
