import type { GroupId, ScriptId } from '#domain/kernel/ids.ts';
import type { RunStatus } from '#domain/run/run.ts';
import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';
import { newestRuns } from '../runs/newest.ts';
import { statement } from '../statement.ts';
import { lastVersions } from './files.ts';
import { nameContains } from './search.ts';
import type { ScriptsTable } from './table.ts';

/** The last finished run of a script. */
export interface LastRun {
  readonly run_id: string;
  readonly status: string;
  readonly finished_at: Date;
}

export interface ScriptView extends ScriptsTable {
  readonly group: string;
  readonly storage_used_bytes: number;
  readonly last_run: LastRun | null;
}

export interface ScriptListFilter {
  /** Includes scripts of these groups. `null` means all groups. */
  readonly groupIds: readonly GroupId[] | null;
  /** Includes only these scripts. */
  readonly among?: readonly string[];
  /** Excludes scripts of this group. */
  readonly notGroupId?: GroupId;
  /** Text that must occur in the script name, ignoring case. */
  readonly text?: string;
  readonly enabled?: boolean;
  readonly tag?: string;
  /** Includes only scripts whose last finished run has one of these statuses. The last run is looked up for each
   *  script. */
  readonly lastStatuses?: readonly RunStatus[];
  /** Whether to list deleted scripts that can be restored. Otherwise, only scripts that are not deleted are listed. */
  readonly deleted?: boolean;
}

export const scriptOrders = ['created', 'name', '-name', 'updated'] as const;
/** The order of scripts: newest first, by name, by name in descending order, or last changed first. */
export type ScriptOrder = (typeof scriptOrders)[number];

const presentFiles = lastVersions({
  of: sql`scripts.script_id`,
  versions: sql`scripts.version`,
  until: sql`scripts.version`,
  after: sql`''`,
});

function scriptViews(db: ReadModels, deleted = false) {
  return db
    .selectFrom('scripts')
    .innerJoin('groups', 'groups.group_id', 'scripts.group_id')
    .selectAll('scripts')
    .select('groups.name as group')
    .select(
      sql<number>`(SELECT coalesce(sum(size_bytes), 0)::bigint FROM (${presentFiles}) present)`.as(
        'storage_used_bytes',
      ),
    )
    .select(
      lastRun<LastRun | null>(
        `json_build_object('run_id', r.run_id, 'status', r.status, 'finished_at', r.finished_at)`,
      ).as('last_run'),
    )
    .where('scripts.deleted', '=', deleted)
    .where('scripts.purge', 'is', null);
}

/** Returns an SQL expression for a column of a script's last finished run. */
function lastRun<Value>(column: string): RawBuilder<Value> {
  const where = 'r.finished_at IS NOT NULL';
  const query = newestRuns({ columns: column, of: 'scripts.script_id', where, limit: 1 });
  return sql`(${sql.raw(query)})`;
}

/** Returns a script, or `undefined` if it does not exist or was deleted. */
export async function findScript(
  db: ReadModels,
  scriptId: ScriptId,
): Promise<ScriptView | undefined> {
  const view = await scriptViews(db).where('scripts.script_id', '=', scriptId).executeTakeFirst();
  return view === undefined ? undefined : withDates(view);
}

/** Returns the given scripts that exist and are not deleted. */
export async function findScripts(
  db: ReadModels,
  scriptIds: readonly ScriptId[],
): Promise<readonly ScriptView[]> {
  const views = await scriptViews(db)
    .where(sql<boolean>`scripts.script_id = ANY(${scriptIds}::uuid[])`)
    .execute();
  return views.map(withDates);
}

/** Returns the progress of a script's purge. Returns `null` if no purge was requested, and `undefined` if the script
 *  does not exist. */
export async function findPurge(
  db: ReadModels,
  scriptId: ScriptId,
): Promise<ScriptsTable['purge'] | undefined> {
  const row = await db
    .selectFrom('scripts')
    .select('purge')
    .where('script_id', '=', scriptId)
    .executeTakeFirst();
  return row?.purge;
}

/** Returns the group of a script, or `undefined` if the script does not exist. Finds deleted scripts only if
 *  `deleted` is set. */
export async function findScriptGroup(
  db: ReadModels,
  scriptId: ScriptId,
  { deleted = false }: { readonly deleted?: boolean } = {},
): Promise<{ readonly group_id: string } | undefined> {
  return await db
    .selectFrom('scripts')
    .select('group_id')
    .where('script_id', '=', scriptId)
    .$if(!deleted, (query) => query.where('deleted', '=', false))
    .executeTakeFirst();
}

/** A resource that belongs to a script. */
export interface OwnedByScript {
  readonly id: string;
  readonly script_id: string;
  readonly group_id: string;
}

/** Returns the groups of scripts, including deleted scripts. */
export async function findScriptGroups(
  db: ReadModels,
  scriptIds: readonly ScriptId[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('scripts')
    .select(['script_id', 'group_id'])
    .where(sql<boolean>`script_id = ANY(${scriptIds}::uuid[])`)
    .execute();
  return new Map(rows.map((row) => [row.script_id, row.group_id]));
}

/** The data of a script that is needed to request a run. */
export type RunnableScript = Pick<ScriptsTable, 'script_id' | 'group_id' | 'parameters_schema'>;

/** Returns the given scripts that exist. */
export async function findRunnableScripts(
  db: ReadModels,
  scriptIds: readonly ScriptId[],
): Promise<ReadonlyMap<string, RunnableScript>> {
  const rows = await runnable(db, scriptIds);
  return new Map(rows.map((row) => [row.script_id, row]));
}

// With a subquery, Postgres cannot see the length of the array and keeps the cached plan.
const runnable = statement<RunnableScript>(`
  SELECT script_id, group_id, parameters_schema FROM scripts
  WHERE script_id = ANY ((SELECT $1::uuid[])::uuid[]) AND NOT deleted`);

const byName = sql`lower(scripts.name) COLLATE "C"`;
const sortKeys: Readonly<Record<ScriptOrder, readonly [RawBuilder<unknown>, 'asc' | 'desc']>> = {
  created: [sql`scripts.script_id`, 'desc'],
  name: [byName, 'asc'],
  '-name': [byName, 'desc'],
  updated: [sql`scripts.updated_at`, 'desc'],
};

/** Lists scripts in the given order, starting after `after`. Returns at most `limit` scripts. */
export async function listScripts(
  db: ReadModels,
  filter: ScriptListFilter,
  after: ScriptId | undefined,
  limit: number,
  order: ScriptOrder = 'created',
): Promise<readonly ScriptView[]> {
  const [column, direction] = sortKeys[order];
  const isBehind = sql.raw(direction === 'asc' ? '>' : '<');
  let query = scriptViews(db, filter.deleted)
    .limit(limit)
    .orderBy(column, direction)
    .orderBy('scripts.script_id', direction);
  if (after !== undefined) {
    query = query.where(
      order === 'created'
        ? sql<boolean>`scripts.script_id < ${after}::uuid`
        : sql<boolean>`(${column}, scripts.script_id) ${isBehind} ((SELECT ${column} FROM scripts
            WHERE script_id = ${after}::uuid), ${after}::uuid)`,
    );
  }
  for (const condition of conditionsOf(filter)) query = query.where(condition);
  return (await query.execute()).map(withDates);
}

function conditionsOf(filter: ScriptListFilter): RawBuilder<boolean>[] {
  const { groupIds, among, notGroupId, enabled, tag, text, lastStatuses } = filter;
  return [
    ...(groupIds === null ? [] : [sql<boolean>`scripts.group_id = ANY(${groupIds}::uuid[])`]),
    ...(among === undefined ? [] : [sql<boolean>`scripts.script_id = ANY(${among}::uuid[])`]),
    ...(notGroupId === undefined ? [] : [sql<boolean>`scripts.group_id <> ${notGroupId}::uuid`]),
    ...(enabled === undefined ? [] : [sql<boolean>`scripts.enabled = ${enabled}`]),
    ...(tag === undefined ? [] : [sql<boolean>`scripts.tags @> ${JSON.stringify([tag])}::jsonb`]),
    ...(lastStatuses === undefined
      ? []
      : [sql<boolean>`${lastRun('r.status')} = ANY(${lastStatuses}::text[])`]),
    // A separate query makes Postgres use the index on names instead of the index for the order of the list.
    ...(text === undefined
      ? []
      : [
          sql<boolean>`scripts.script_id = ANY(ARRAY(
            SELECT script_id FROM scripts WHERE ${nameContains(text)}))`,
        ]),
  ];
}

// Parses times, which JSON contains as text.
function withDates(view: ScriptView): ScriptView {
  const { last_run: last } = view;
  return last === null
    ? view
    : { ...view, last_run: { ...last, finished_at: new Date(last.finished_at) } };
}
