/** Folds events into the row of a schedule, and settles due times. */
import type { Recorded } from '#domain/aggregates.ts';
import { dueAfter } from '#domain/schedule/due-times.ts';
import type { ScheduleEvent } from '#domain/schedule/events.ts';
import { isOnlyRenamed } from '#domain/schedule/schedule.ts';
import type { RunQueued } from '#domain/run/events.ts';
import { actorName } from '../actors.ts';
import type { ScheduleOccurrencesTable, SchedulesTable } from './table.ts';

/** A run that a schedule started. */
export type ScheduledRun = Recorded<RunQueued> & {
  readonly data: { readonly trigger: { readonly type: 'schedule' } };
};

export type ScheduleRecorded = Recorded<ScheduleEvent> | ScheduledRun;

export interface Folded {
  readonly row: SchedulesTable;
  readonly occurrences: readonly ScheduleOccurrencesTable[];
}

/** The maximum number of unsettled due times that are settled when a schedule is changed. */
const maxOvertaken = 10_000;

/** Returns the schedule ID of an event. */
export function scheduleOf(event: ScheduleRecorded): string {
  return event.type === 'RunQueued' ? event.data.trigger.scheduleId : event.data.scheduleId;
}

/** Applies an event to a row. @returns `undefined` if the event has already been applied to the row */
export function folded(
  row: SchedulesTable | undefined,
  event: ScheduleRecorded,
): Folded | undefined {
  if (event.type === 'RunQueued') return row && fired(row, event);
  if (row !== undefined && row.stream_version >= event.version) return undefined;
  if (event.type === 'ScheduleCreated') return { row: created(event), occurrences: [] };
  if (row === undefined) return undefined;
  const seen = { ...row, stream_version: event.version };
  switch (event.type) {
    case 'ScheduleChanged':
      if (isOnlyRenamed(row.definition, event.data.definition))
        return { row: renamed(seen, event), occurrences: [] };
      return { row: changed(seen, event), occurrences: overtaken(row, event, 'schedule_changed') };
    case 'ScheduleDeleted':
      return {
        row: { ...touched(seen, event), deleted: true, next_fire_at: null },
        occurrences: overtaken(row, event, 'schedule_deleted'),
      };
    case 'OccurrencesPassed': {
      const { scheduleId, occurrences } = event.data;
      const last = occurrences.at(-1);
      return {
        row: last === undefined ? seen : settled(seen, new Date(last.dueAt)),
        occurrences: occurrences.map(({ dueAt, outcome, reason }) => ({
          schedule_id: scheduleId,
          due_at: new Date(dueAt),
          outcome,
          reason,
          run_id: null,
        })),
      };
    }
  }
}

type Of<Type extends ScheduleRecorded['type']> = Extract<ScheduleRecorded, { type: Type }>;

function created(event: Of<'ScheduleCreated'>): SchedulesTable {
  const { scheduleId, scriptId, definition } = event.data;
  const by = actorName(event.metadata.actor);
  return awaited({
    schedule_id: scheduleId,
    stream_version: event.version,
    script_id: scriptId,
    definition,
    params_sha256: definition.paramsSha256,
    version: 1,
    deleted: false,
    counted_from: event.recordedAt,
    settled_until: null,
    next_fire_at: null,
    last_fire_at: null,
    created_at: event.recordedAt,
    created_by: by,
    updated_at: event.recordedAt,
    updated_by: by,
  });
}

function changed(row: SchedulesTable, event: Of<'ScheduleChanged'>): SchedulesTable {
  const { definition } = event.data;
  return awaited({
    ...touched(row, event),
    definition,
    params_sha256: definition.paramsSha256,
    version: row.version + 1,
    counted_from: event.recordedAt,
  });
}

/** Keeps the due times if only the name has changed. Intervals are still counted from the last change to the timing. */
function renamed(row: SchedulesTable, event: Of<'ScheduleChanged'>): SchedulesTable {
  const { definition } = event.data;
  return { ...touched(row, event), definition, version: row.version + 1 };
}

function touched(row: SchedulesTable, event: ScheduleRecorded): SchedulesTable {
  return { ...row, updated_at: event.recordedAt, updated_by: actorName(event.metadata.actor) };
}

function fired(row: SchedulesTable, { data }: ScheduledRun): Folded {
  const { scheduleId, dueAt, outcome } = data.trigger;
  const due = new Date(dueAt);
  return {
    row: { ...settled(row, due), last_fire_at: later(row.last_fire_at, due) },
    occurrences: [
      { schedule_id: scheduleId, due_at: due, outcome, reason: null, run_id: data.runId },
    ],
  };
}

function settled(row: SchedulesTable, due: Date): SchedulesTable {
  return awaited({ ...row, settled_until: later(row.settled_until, due) });
}

/** Returns the row with its next due time. */
function awaited(row: SchedulesTable): SchedulesTable {
  const { definition, created_at, counted_from, settled_until, deleted } = row;
  const next = dueAfter(definition, created_at, later(settled_until, counted_from));
  return { ...row, next_fire_at: deleted ? null : (next ?? null) };
}

/** Returns due times before the change that were not settled yet. */
function overtaken(
  { schedule_id, definition, created_at, next_fire_at }: SchedulesTable,
  { recordedAt }: ScheduleRecorded,
  reason: string,
): readonly ScheduleOccurrencesTable[] {
  const found: ScheduleOccurrencesTable[] = [];
  let due = next_fire_at ?? undefined;
  while (due !== undefined && due <= recordedAt && found.length < maxOvertaken) {
    found.push({ schedule_id, due_at: due, outcome: 'skipped', reason, run_id: null });
    due = dueAfter(definition, created_at, due);
  }
  return found;
}

function later(one: Date | null, other: Date): Date {
  return one !== null && one > other ? one : other;
}
