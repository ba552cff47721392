/** Lists of runs, newest first. However long the history and however rare what is asked for, a page costs
 *  about as much as its rows.
 *
 *  A page is merged from branches. A branch is a range of one index in which runs stand in the order of
 *  the list: those of a script or a group, or those of them that ended in one way and had one trigger.
 *  What has not ended is in the queue, which is short. */
import { inOrderOfTime, type GroupId, type RunId, type ScriptId } from '#domain/kernel/ids.ts';
import { runStatuses, triggerTypes, type RunStatus, type TriggerType } from '#domain/run/run.ts';
import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';
import { searchScripts } from '../scripts/search.ts';
import { runColumns, type RunsTable } from './table.ts';

export interface RunListFilter {
  /** Groups to look in; `null` for all. */
  readonly groupIds: readonly GroupId[] | null;
  /** A script that is, or was at last, in one of these groups. */
  readonly scriptId?: ScriptId;
  readonly status?: RunStatus;
  readonly triggerType?: TriggerType;
  /** Asked for at this time or later, and before `to`: the time of their ids. */
  readonly from?: Date;
  readonly to?: Date;
  /** Part of the name that the script has now, any case. */
  readonly text?: string;
}

/** What only its execution needs of a run: a list would spend half of its time on it. */
const unlisted = [
  'limits',
  'environment',
  'python',
  'resolution',
  'start_mode',
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

/** Newest first, from behind `after`; at most `limit` rows. */
export async function listRuns(
  db: ReadModels,
  filter: RunListFilter,
  after: RunId | undefined,
  limit: number,
): Promise<readonly ListedRun[]> {
  const places = await placesOf(db, filter);
  if (places?.ids.length === 0) return [];
  // As text: what is planned without knowing the limit is planned for all rows.
  const page: Page = { filter, places, range: rangeOf(filter, after), most: sql.lit(limit) };
  const where = isEverything(page)
    ? page.range
    : // Keys first: of an index that has all that is asked for the planner expects no surprise, whereas
      // one that has a part of it may hold millions of other runs.
      sql`run_id = ANY(ARRAY(
        SELECT run_id FROM (${sql.join([...endedKeys(page), ...activeKeys(page)], sql` UNION ALL `)})
        found ORDER BY run_id DESC LIMIT ${page.most}))`;
  const { rows } = await sql<ListedRun>`
    SELECT ${listed} FROM runs WHERE ${where} ORDER BY run_id DESC LIMIT ${page.most}`.execute(db);
  return rows;
}

/** Where to look; `undefined` for everywhere. */
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

async function placesOf(db: ReadModels, filter: RunListFilter): Promise<Places> {
  const { groupIds, scriptId, text } = filter;
  if (text !== undefined) return { column: 'script_id', ids: await searchScripts(db, filter) };
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

function isEverything({ places, filter: { status, triggerType } }: Page): boolean {
  return places === undefined && status === undefined && triggerType === undefined;
}

/** The ranges of the indexes of the history that the page is in. */
function branchesOf({ filter, places }: Page): Branch[] {
  const { status, triggerType: trigger } = filter;
  if (status !== undefined && activeStatuses.includes(status)) return [];
  const isByKind = status !== undefined || trigger !== undefined;
  const ways = status === undefined ? endings : [status];
  const triggers = trigger === undefined ? triggerTypes : [trigger];
  const kinds = isByKind
    ? ways.flatMap((ending) => triggers.map((one) => ({ ending, trigger: one })))
    : [{ ending: undefined, trigger: undefined }];
  return (places?.ids ?? [undefined]).flatMap((place) =>
    kinds.map((kind): Branch => ({ place, ...kind })),
  );
}

// More than that, and planning them costs more than the reading.
const maxMerged = 64;

/** Keys of runs from the indexes of the history. */
function endedKeys(page: Page): RawBuilder<unknown>[] {
  const branches = branchesOf(page);
  if (branches.length > maxMerged) return [nearestKeys(page, branches)];
  return branches.map(
    (branch) => sql`(SELECT run_id FROM runs WHERE ${conditions(page, valuesOf(branch))}
      ORDER BY run_id DESC LIMIT ${page.most})`,
  );
}

/** The same of very many branches: the rows of a page are in those whose newest are the newest. */
function nearestKeys(page: Page, branches: readonly Branch[]): RawBuilder<unknown> {
  const { ending, trigger } = branches[0] ?? {};
  const where = conditions(page, {
    place: sql`wanted_place`,
    ending: ending && sql`wanted_ending`,
    trigger: trigger && sql`wanted_trigger`,
  });
  const column = (name: keyof Branch) => branches.map((branch) => branch[name] ?? null);
  return sql`(
    SELECT one.run_id FROM (
      SELECT branch.* FROM unnest(${column('place')}::uuid[], ${column('ending')}::text[],
        ${column('trigger')}::text[]) AS branch (wanted_place, wanted_ending, wanted_trigger)
      CROSS JOIN LATERAL (
        SELECT run_id FROM runs WHERE ${where} ORDER BY run_id DESC LIMIT 1
      ) newest ORDER BY newest.run_id DESC LIMIT ${page.most}
    ) near CROSS JOIN LATERAL (
      SELECT run_id FROM runs WHERE ${where} ORDER BY run_id DESC LIMIT ${page.most}
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

/** A script may have been in other groups before, and is in one of these now: otherwise all of its runs
 *  would be looked at in vain. */
function ownGroups({ places, filter: { groupIds, scriptId } }: Page): RawBuilder<unknown>[] {
  if (places?.column !== 'script_id' || groupIds === null) return [];
  const own = sql`group_id = ANY(${groupIds}::uuid[])`;
  if (scriptId === undefined) return [own];
  return [own, sql`EXISTS (SELECT FROM scripts WHERE script_id = ${scriptId}::uuid AND ${own})`];
}

/** Keys of runs that have not ended, where these are to be looked up apart. */
function activeKeys(page: Page): RawBuilder<unknown>[] {
  const { places, filter, range, most } = page;
  const { status, triggerType } = filter;
  if (status === undefined ? triggerType === undefined : !activeStatuses.includes(status))
    return [];
  const where = [
    range,
    ...(places === undefined
      ? []
      : [sql`runs.${sql.ref(places.column)} = ANY(${places.ids}::uuid[])`]),
    ...(status === undefined ? [] : [sql`runs.status = ${status}`]),
    ...(triggerType === undefined ? [] : [sql`runs.trigger_type = ${triggerType}`]),
    ...ownGroups(page),
  ];
  return [
    sql`(SELECT run_id FROM run_queue queue JOIN runs USING (run_id)
      WHERE ${sql.join(where, sql` AND `)} ORDER BY run_id DESC LIMIT ${most})`,
  ];
}
