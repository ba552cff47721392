/** Reads exception calendars, and the schedules that use them. */
import type { CalendarPeriod } from '#domain/calendar/calendar.ts';
import type { CalendarId } from '#domain/kernel/ids.ts';
import { firstDueOutside } from '#domain/schedule/exceptions.ts';
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';
import type { SchedulesTable } from '../schedules/table.ts';
import { statement } from '../statement.ts';
import type { CalendarsTable } from './table.ts';

/** Lists calendars, newest first, starting after `after`. Returns at most `limit` calendars. */
export async function listCalendars(
  db: ReadModels,
  after: CalendarId | undefined,
  limit: number,
): Promise<readonly CalendarsTable[]> {
  let query = db.selectFrom('calendars').selectAll().orderBy('calendar_id', 'desc');
  if (after !== undefined) query = query.where('calendar_id', '<', after);
  return await query.limit(limit).execute();
}

export async function findCalendar(
  db: ReadModels,
  calendarId: string,
): Promise<CalendarsTable | undefined> {
  return await db
    .selectFrom('calendars')
    .selectAll()
    .where('calendar_id', '=', calendarId)
    .executeTakeFirst();
}

const used = statement<{ readonly used: boolean }>(`
  SELECT EXISTS (SELECT FROM schedules WHERE definition ->> 'calendarId' = $1 AND NOT deleted) AS used`);

/** Whether any schedule uses the calendar. Schedules of deleted scripts count. */
export async function isCalendarInUse(db: ReadModels, calendarId: string): Promise<boolean> {
  return (await used(db, calendarId))[0]?.used ?? false;
}

/** Returns all calendars, and whether any schedule uses them. Schedules of deleted scripts count. */
export async function calendarsWithUse(
  db: ReadModels,
): Promise<readonly (CalendarsTable & { readonly inUse: boolean })[]> {
  const calendars = await db.selectFrom('calendars').selectAll().execute();
  const uses = await db
    .selectFrom('schedules')
    .select(sql<string | null>`definition ->> 'calendarId'`.as('calendar_id'))
    .distinct()
    .where('deleted', '=', false)
    .execute();
  const used = new Set(uses.map((row) => row.calendar_id));
  return calendars.map((row) => ({ ...row, inUse: used.has(row.calendar_id) }));
}

type WithDefinition = Pick<SchedulesTable, 'definition'>;

/** Returns the periods in which each of the schedules starts no runs. */
export async function exceptionsOf(
  db: ReadModels,
  schedules: readonly WithDefinition[],
): Promise<(schedule: WithDefinition) => readonly CalendarPeriod[]> {
  const ids = [...new Set(schedules.flatMap(({ definition }) => definition.calendarId ?? []))];
  const rows =
    ids.length === 0
      ? []
      : await db
          .selectFrom('calendars')
          .select(['calendar_id', 'periods'])
          .where('calendar_id', 'in', ids)
          .execute();
  const periods = new Map(rows.map((row) => [row.calendar_id, row.periods]));
  return ({ definition }) => (definition.calendarId && periods.get(definition.calendarId)) || [];
}

/** Returns the schedules with the first due time that their calendars do not exclude. */
export async function withoutExceptions<
  Row extends Pick<SchedulesTable, 'definition' | 'created_at' | 'next_fire_at'>,
>(db: ReadModels, schedules: readonly Row[]): Promise<readonly Row[]> {
  const exceptions = await exceptionsOf(db, schedules);
  return schedules.map((row) => {
    const { definition, created_at, next_fire_at: next } = row;
    const due = firstDueOutside(exceptions(row), definition, created_at, next ?? undefined);
    return { ...row, next_fire_at: due ?? null };
  });
}
