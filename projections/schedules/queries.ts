import type { OccurrenceFacts } from '#domain/kernel/aggregate.ts';
import { known, parseScheduleId, type GroupId, type ScheduleId } from '#domain/kernel/ids.ts';
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';
import type { ScheduleOccurrencesTable, SchedulesTable } from './table.ts';

/** A schedule, and the group of its script. */
export type ScheduleView = SchedulesTable & {
  readonly group_id: string;
  /** The script was deleted. */
  readonly script_deleted: boolean;
};

export interface ScheduleFilter {
  /** The groups to look in, `null` for all. */
  readonly groupIds: readonly GroupId[] | null;
  readonly scriptId?: string;
}

/** Newest first, from behind `after`; at most `limit`. Those of deleted scripts are left out. */
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

/** One of them, be it deleted or not. */
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
    .select(['group_id', 'scripts.deleted as script_deleted']);
}

/** What became of due times, the last first, from before `before`; at most `limit`. */
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

const settled = statement<{ due_at: Date }>(`
  SELECT due_at FROM schedule_occurrences
  WHERE schedule_id = $1 AND due_at = ANY($2::timestamptz[])`);

/** Those of the due times that have ended. */
export async function settledDueTimes(
  db: ReadModels,
  scheduleId: string,
  dueTimes: readonly string[],
): Promise<readonly string[]> {
  const rows = await settled(db, known(parseScheduleId, scheduleId), dueTimes);
  return rows.map((row) => row.due_at.toISOString());
}

const occurrence = statement<OccurrenceFacts>(`
  SELECT NOT EXISTS (SELECT FROM schedules
      WHERE schedule_id = $1 AND NOT deleted AND (definition ->> 'enabled')::boolean)
    OR EXISTS (SELECT FROM schedule_occurrences WHERE schedule_id = $1 AND due_at = $2) AS over,
    EXISTS (SELECT FROM run_queue q JOIN runs r USING (run_id)
      WHERE q.script_id = $3 AND r.trigger_type = 'schedule'
        AND r.trigger ->> 'scheduleId' = $1::text) AS overlaps`);

/** A due time as the admission of its run sees it. */
export async function occurrenceFacts(
  db: ReadModels,
  scheduleId: string,
  dueAt: string,
  scriptId: string,
): Promise<OccurrenceFacts> {
  const [facts] = await occurrence(db, scheduleId, dueAt, scriptId);
  return facts ?? { over: true, overlaps: false };
}
