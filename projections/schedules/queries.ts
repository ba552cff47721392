import type { ScheduleFacts } from '#domain/kernel/aggregate.ts';
import type { GroupId, ScheduleId } from '#domain/kernel/ids.ts';
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import type { OwnedByScript } from '../scripts/queries.ts';
import { statement } from '../statement.ts';
import type { ScheduleOccurrencesTable, SchedulesTable } from './table.ts';

/** A schedule with the data of its script that users see. */
export type ScheduleView = SchedulesTable & {
  readonly group_id: string;
  readonly script_name: string;
  /** Whether the script was deleted. */
  readonly script_deleted: boolean;
};

export interface ScheduleFilter {
  /** Includes schedules of these groups. `null` means all groups. */
  readonly groupIds: readonly GroupId[] | null;
  readonly scriptId?: string;
}

/** Lists schedules, newest first, starting after `after`. Returns at most `limit` schedules. Schedules of deleted
 *  scripts are omitted. */
export async function listSchedules(
  db: ReadModels,
  { groupIds, scriptId }: ScheduleFilter,
  after: ScheduleId | undefined,
  limit: number,
): Promise<readonly ScheduleView[]> {
  let query = views(db)
    .where('schedules.deleted', '=', false)
    .where('scripts.deleted', '=', false)
    .orderBy('schedule_id', 'desc')
    .limit(limit);
  if (after !== undefined) query = query.where('schedule_id', '<', after);
  if (groupIds !== null) query = query.where(sql<boolean>`group_id = ANY(${groupIds}::uuid[])`);
  if (scriptId !== undefined) query = query.where('schedules.script_id', '=', scriptId);
  return await query.execute();
}

/** Returns a schedule, even if it was deleted. */
export async function findSchedule(
  db: ReadModels,
  scheduleId: ScheduleId,
): Promise<ScheduleView | undefined> {
  return await views(db).where('schedule_id', '=', scheduleId).executeTakeFirst();
}

function views(db: ReadModels) {
  return db
    .selectFrom('schedules')
    .innerJoin('scripts', 'scripts.script_id', 'schedules.script_id')
    .selectAll('schedules')
    .select(['group_id', 'scripts.name as script_name', 'scripts.deleted as script_deleted']);
}

/** Returns the scripts and groups of schedules. Deleted schedules are included. */
export async function findScheduleOwners(
  db: ReadModels,
  scheduleIds: readonly string[],
): Promise<readonly OwnedByScript[]> {
  return await ownersOf(db, scheduleIds);
}

const ownersOf = statement<OwnedByScript>(`
  SELECT w.schedule_id AS id, w.script_id, s.group_id
  FROM schedules w JOIN scripts s USING (script_id) WHERE w.schedule_id = ANY($1::uuid[])`);

/** Lists the outcomes of due times before `before`, latest first. Returns at most `limit` outcomes. */
export async function listOccurrences(
  db: ReadModels,
  scheduleId: ScheduleId,
  before: Date | undefined,
  limit: number,
): Promise<readonly ScheduleOccurrencesTable[]> {
  let query = db
    .selectFrom('schedule_occurrences')
    .selectAll()
    .where('schedule_id', '=', scheduleId)
    .orderBy('due_at', 'desc')
    .limit(limit);
  if (before !== undefined) query = query.where('due_at', '<', before);
  return await query.execute();
}

/** Returns the runs that were started for due times of a schedule, by due time in milliseconds. */
export async function runsOfDueTimes(
  db: ReadModels,
  scheduleId: string,
  dueTimes: readonly Date[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await runsOf(db, scheduleId, dueTimes);
  return new Map(rows.map(({ due_at, run_id }) => [due_at.getTime(), run_id]));
}

const runsOf = statement<{ readonly due_at: Date; readonly run_id: string }>(`
  SELECT due_at, run_id FROM schedule_occurrences
  WHERE schedule_id = $1 AND due_at = ANY($2::timestamptz[]) AND run_id IS NOT NULL`);

interface FactsRow {
  readonly schedule_id: string;
  readonly enabled: boolean;
  readonly served_until: Date;
  readonly active: boolean;
}

const factsOf = statement<FactsRow>(`
  SELECT schedule_id, NOT deleted AND (definition ->> 'enabled')::boolean AS enabled,
    greatest(settled_until, counted_from) AS served_until,
    EXISTS (SELECT FROM run_queue q JOIN runs r USING (run_id)
      WHERE q.script_id = s.script_id AND NOT q.approval_pending AND r.trigger_type = 'schedule'
        AND r.trigger ->> 'scheduleId' = s.schedule_id::text) AS active
  FROM schedules s WHERE schedule_id = ANY($1::uuid[])`);

/** Returns the facts about schedules that determine their due times. */
export async function scheduleFacts(
  db: ReadModels,
  scheduleIds: readonly string[],
): Promise<ReadonlyMap<string, ScheduleFacts>> {
  const rows = await factsOf(db, scheduleIds);
  return new Map(
    rows.map(({ schedule_id, enabled, served_until, active }) => [
      schedule_id,
      { enabled, servedUntil: served_until.toISOString(), active },
    ]),
  );
}
