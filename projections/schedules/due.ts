/** Queries with which the scheduler finds due schedules. */
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import type { SchedulesTable } from './table.ts';

/** A schedule with an unsettled due time. */
export type DueSchedule = Pick<
  SchedulesTable,
  'schedule_id' | 'script_id' | 'definition' | 'created_at'
> & { readonly next_fire_at: Date };

/** Returns due schedules, earliest first. Returns at most `limit` schedules, and none while triggers are paused.
 *  Schedules of a deleted script wait until the script is restored. */
export async function dueSchedules(
  db: ReadModels,
  now: Date,
  limit: number,
): Promise<readonly DueSchedule[]> {
  return await db
    .selectFrom('schedules')
    .select(['schedule_id', 'schedules.script_id', 'definition', 'schedules.created_at'])
    .select('next_fire_at')
    .$narrowType<{ next_fire_at: Date }>()
    .innerJoin('scripts', 'scripts.script_id', 'schedules.script_id')
    .where('next_fire_at', '<=', now)
    .where('scripts.deleted', '=', false)
    .where(sql<boolean>`NOT EXISTS (SELECT FROM trigger_state WHERE paused)`)
    .orderBy('next_fire_at')
    .limit(limit)
    .execute();
}

/** Returns the first due time after `now`, or `undefined` if none exists. */
export async function nextDueAt(db: ReadModels, now: Date): Promise<Date | undefined> {
  const row = await db
    .selectFrom('schedules')
    .select('next_fire_at')
    .where('next_fire_at', '>', now)
    .orderBy('next_fire_at')
    .limit(1)
    .executeTakeFirst();
  return row?.next_fire_at ?? undefined;
}

/** Returns the queued and running runs of a schedule whose due times are before the given time. */
export async function activeRunsOf(
  db: ReadModels,
  scheduleId: string,
  scriptId: string,
  dueAt: string,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('run_queue')
    .innerJoin('runs', 'runs.run_id', 'run_queue.run_id')
    .select('run_queue.run_id')
    .where('run_queue.script_id', '=', scriptId)
    .where('run_queue.approval_pending', '=', false)
    .where('trigger_type', '=', 'schedule')
    .where(sql<boolean>`trigger ->> 'scheduleId' = ${scheduleId}`)
    .where(sql<boolean>`trigger ->> 'dueAt' < ${dueAt}`)
    .orderBy('run_queue.run_id')
    .execute();
  return rows.map((row) => row.run_id);
}
