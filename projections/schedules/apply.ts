import type { Recorded } from '#domain/aggregates.ts';
import { sql } from 'kysely';
import type { Columns } from '../columns.ts';
import type { Projection, ReadModels } from '../projection.ts';
import { unnested } from '../rows.ts';
import { folded, scheduleOf, type ScheduledRun, type ScheduleRecorded } from './fold.ts';
import {
  occurrenceColumns,
  scheduleColumns,
  type ScheduleOccurrencesTable,
  type SchedulesTable,
} from './table.ts';

/** Builds the schedules with their next due times, and the outcomes of due times. */
export const schedulesProjection: Projection = {
  name: 'schedules',
  version: 1,
  handles: [
    'ScheduleCreated',
    'ScheduleChanged',
    'ScheduleDeleted',
    'OccurrencesPassed',
    'RunQueued',
  ],
  tables: ['schedules', 'schedule_occurrences'],
  apply: async (db, events) => {
    const own = events.filter(isOfSchedule);
    // Most runs have another trigger. The query is skipped for them.
    if (own.length > 0) await applyOwn(db, own);
  },
  writes: (events) => (events.some(isOfSchedule) ? undefined : []),
};

function isOfSchedule(event: Recorded): event is ScheduleRecorded {
  return event.type !== 'RunQueued' || isScheduled(event);
}

function isScheduled(event: Extract<Recorded, { type: 'RunQueued' }>): event is ScheduledRun {
  return event.data.trigger.type === 'schedule';
}

async function applyOwn(db: ReadModels, events: readonly ScheduleRecorded[]): Promise<void> {
  const rows = await rowsOf(db, [...new Set(events.map(scheduleOf))].toSorted());
  const changed = new Set<string>();
  const occurrences = new Map<string, ScheduleOccurrencesTable>();
  for (const event of events) {
    const id = scheduleOf(event);
    const next = folded(rows.get(id), event);
    if (next === undefined) continue;
    rows.set(id, next.row);
    changed.add(id);
    for (const one of next.occurrences) {
      const key = `${one.schedule_id} ${one.due_at.getTime()}`;
      // A backfill replaces the earlier outcome of a due time for which no run was started.
      if (!occurrences.has(key) || one.outcome === 'backfilled') occurrences.set(key, one);
    }
  }
  await write(
    db,
    [...changed].toSorted().flatMap((id) => rows.get(id) ?? []),
  );
  await note(db, [...occurrences.values()]);
}

async function rowsOf(
  db: ReadModels,
  ids: readonly string[],
): Promise<Map<string, SchedulesTable>> {
  const rows = await db
    .selectFrom('schedules')
    .selectAll()
    .where(sql<boolean>`schedule_id = ANY(${ids}::uuid[])`)
    .execute();
  return new Map(rows.map((row) => [row.schedule_id, row]));
}

async function write(db: ReadModels, rows: readonly SchedulesTable[]): Promise<void> {
  if (rows.length === 0) return;
  const names = namesOf(scheduleColumns);
  const changes = names.map((name) => sql`${name} = excluded.${name}`);
  await sql`
    INSERT INTO schedules (${sql.join(names)})
    SELECT * FROM unnest(${valuesOf(scheduleColumns, rows)})
    ON CONFLICT (schedule_id) DO UPDATE SET ${sql.join(changes)}
    WHERE schedules.stream_version <= excluded.stream_version`.execute(db);
}

async function note(db: ReadModels, rows: readonly ScheduleOccurrencesTable[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    INSERT INTO schedule_occurrences (${sql.join(namesOf(occurrenceColumns))})
    SELECT * FROM unnest(${valuesOf(occurrenceColumns, rows)})
    ON CONFLICT (schedule_id, due_at) DO UPDATE
    SET outcome = excluded.outcome, reason = excluded.reason, run_id = excluded.run_id
    WHERE excluded.outcome = 'backfilled' AND schedule_occurrences.run_id IS NULL`.execute(db);
}

function namesOf<Row>(columns: Columns<Row>) {
  return Object.keys(columns).map((name) => sql.ref(name));
}

function valuesOf<Row>(columns: Columns<Row>, rows: readonly Row[]) {
  const names = Object.keys(columns) as (keyof Row & string)[];
  return sql.join(
    names.map((name) =>
      unnested(
        columns[name],
        rows.map((row) => row[name]),
      ),
    ),
  );
}
