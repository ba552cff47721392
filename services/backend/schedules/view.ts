/** Formats schedules for API responses. */
import type { ScheduleDefinition } from '#domain/schedule/schedule.ts';
import type { ScheduleView } from '#projections/schedules/queries.ts';

/** The definition in the API, without its parameters. */
export function definitionJson(definition: ScheduleDefinition) {
  return {
    name: definition.name ?? null,
    kind: definition.kind,
    cron: definition.cron,
    timezone: definition.timezone,
    interval_seconds: definition.intervalSeconds,
    once_at: definition.kind === 'once' ? definition.onceAt : null,
    start_at: definition.startAt,
    end_at: definition.endAt,
    enabled: definition.enabled,
    catch_up: definition.catchUp,
    max_lateness_seconds: definition.maxLatenessSeconds,
    overlap: definition.overlap,
    calendar_id: definition.calendarId ?? null,
  };
}

export function scheduleJson({ definition, ...schedule }: ScheduleView, params: unknown) {
  return {
    id: schedule.schedule_id,
    script_id: schedule.script_id,
    script_name: schedule.script_name,
    ...definitionJson(definition),
    params: params ?? null,
    next_fire_at: schedule.next_fire_at,
    last_fire_at: schedule.last_fire_at,
    version: schedule.version,
    created_at: schedule.created_at,
    created_by: schedule.created_by,
    updated_at: schedule.updated_at,
    updated_by: schedule.updated_by,
  };
}
