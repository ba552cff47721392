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
import type { RunsTable } from './table.ts';

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

/** Newest first, from behind `after`; at most `limit` rows. */
export async function listRuns(
  db: ReadModels,
  filter: RunListFilter,
  after: RunId | undefined,
  limit: number,
): Promise<readonly RunsTable[]> {
  const places = await placesOf(db, filter);
  if (places?.ids.length === 0) return [];
  // As text: what is planned without knowing the limit is planned for all rows.
  const page: Page = { filter, places, range: rangeOf(filter, after), most: sql.lit(limit) };
  const keys = sql.join([...endedKeys(page), ...activeKeys(page)], sql` UNION ALL `);
  const { rows } = await sql<RunsTable>`
    SELECT * FROM runs WHERE run_id = ANY(ARRAY(
      SELECT run_id FROM (${keys}) found ORDER BY run_id DESC LIMIT ${page.most}
    )) ORDER BY run_id DESC`.execute(db);
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
  if (text !== undefined || (scriptId !== undefined && groupIds !== null)) {
    return { column: 'script_id', ids: await searchScripts(db, filter) };
  }
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

/** Ways of ending and triggers to look for, each with each; none where they do not matter. */
function kindsOf({ status, triggerType }: RunListFilter) {
  if (status === undefined && triggerType === undefined) return undefined;
  const ended = status === undefined ? endings : endings.filter((one) => one === status);
  const triggers = triggerType === undefined ? triggerTypes : [triggerType];
  return ended.flatMap((ending) => triggers.map((trigger) => ({ ending, trigger })));
}

interface Branch {
  readonly place: string | undefined;
  readonly ending: string | undefined;
  readonly trigger: string | undefined;
}

// More than that, and planning them costs more than the reading.
const maxMerged = 64;

/** Keys of runs from the indexes of the history. */
function endedKeys(page: Page): RawBuilder<unknown>[] {
  const kinds = kindsOf(page.filter) ?? [{ ending: undefined, trigger: undefined }];
  const branches = (page.places?.ids ?? [undefined]).flatMap((place) =>
    kinds.map((kind): Branch => ({ place, ...kind })),
  );
  if (branches.length > maxMerged) return [nearestKeys(page, branches)];
  return branches.map(
    ({ place, ending, trigger }) => sql`(
      SELECT run_id FROM runs WHERE ${conditions(page, {
        place: sql`${place}::uuid`,
        ending: ending === undefined ? undefined : sql`${ending}`,
        trigger: sql`${trigger}`,
      })} ORDER BY run_id DESC LIMIT ${page.most})`,
  );
}

/** The same of very many branches: the rows of a page are in those whose newest are the newest. */
function nearestKeys(page: Page, branches: readonly Branch[]): RawBuilder<unknown> {
  const isByKind = branches[0]?.ending !== undefined;
  const where = conditions(page, {
    place: sql`wanted_place`,
    ending: isByKind ? sql`wanted_ending` : undefined,
    trigger: sql`wanted_trigger`,
  });
  const column = (values: readonly (string | undefined)[]) => values.map((value) => value ?? null);
  return sql`(
    SELECT one.run_id FROM (
      SELECT branch.* FROM unnest(${column(branches.map((one) => one.place))}::uuid[],
        ${column(branches.map((one) => one.ending))}::text[],
        ${column(branches.map((one) => one.trigger))}::text[]) AS branch (wanted_place, wanted_ending, wanted_trigger)
      CROSS JOIN LATERAL (
        SELECT run_id FROM runs WHERE ${where} ORDER BY run_id DESC LIMIT 1
      ) newest ORDER BY newest.run_id DESC LIMIT ${page.most}
    ) near CROSS JOIN LATERAL (
      SELECT run_id FROM runs WHERE ${where} ORDER BY run_id DESC LIMIT ${page.most}
    ) one ORDER BY one.run_id DESC LIMIT ${page.most})`;
}

interface BranchSql {
  readonly place: RawBuilder<unknown>;
  readonly ending: RawBuilder<unknown> | undefined;
  readonly trigger: RawBuilder<unknown>;
}

function conditions(page: Page, { place, ending, trigger }: BranchSql): RawBuilder<unknown> {
  const { places, range } = page;
  return sql.join(
    [
      range,
      ...(places === undefined ? [] : [sql`${sql.ref(places.column)} = ${place}`]),
      ...(ending === undefined ? [] : [sql`ended_as = ${ending} AND trigger_type = ${trigger}`]),
      ...ownGroups(page),
    ],
    sql` AND `,
  );
}

/** A script may have been in other groups before. */
function ownGroups({ places, filter: { groupIds } }: Page): RawBuilder<unknown>[] {
  if (places?.column !== 'script_id' || groupIds === null) return [];
  return [sql`group_id = ANY(${groupIds}::uuid[])`];
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
