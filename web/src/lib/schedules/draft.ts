import type { NewSchedule, Schedule, ScheduleChanges, ScheduleTiming } from '#lib/api/types.ts';
import { inputTime, localInput } from '#lib/ui/format.ts';

/** The number of seconds in each interval unit. */
export const unitSeconds = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 } as const;
export type IntervalUnit = keyof typeof unitSeconds;

/** The values of the schedule form. */
export interface ScheduleDraft {
  /** The name, or empty if the schedule has none. */
  name: string;
  kind: Schedule['kind'];
  cron: string;
  timezone: string;
  every: number | null;
  unit: IntervalUnit;
  /** The due time of a one-time schedule: the value of `<input type="datetime-local">` in the user's time zone. */
  onceAt: string;
  /** The start of the schedule: the value of `<input type="datetime-local">` in the user's time zone, or empty if no
   *  start is set. */
  startAt: string;
  endAt: string;
  catchUp: Schedule['catch_up'];
  maxLatenessMinutes: number | null;
  overlap: Schedule['overlap'];
  /** The ID of the exception calendar, or empty if none exists. */
  calendarId: string;
  /** The parameters as JSON, or empty if there are none. */
  params: string;
}

export function newDraft(timezone: string): ScheduleDraft {
  return {
    name: '',
    kind: 'cron',
    cron: '0 9 * * 1-5',
    timezone,
    every: 15,
    unit: 'minutes',
    onceAt: '',
    startAt: '',
    endAt: '',
    catchUp: 'last',
    maxLatenessMinutes: 60,
    overlap: 'skip',
    calendarId: '',
    params: '',
  };
}

export function draftOf(schedule: Schedule): ScheduleDraft {
  const fresh = newDraft(schedule.timezone);
  const { interval_seconds: seconds } = schedule;
  const unit = seconds === null ? fresh.unit : largestUnit(seconds);
  return {
    name: schedule.name ?? '',
    kind: schedule.kind,
    cron: schedule.cron ?? fresh.cron,
    timezone: schedule.timezone,
    every: seconds === null ? fresh.every : seconds / unitSeconds[unit],
    unit,
    onceAt: localInput(schedule.once_at),
    startAt: localInput(schedule.start_at),
    endAt: localInput(schedule.end_at),
    catchUp: schedule.catch_up,
    maxLatenessMinutes: schedule.max_lateness_seconds / 60,
    overlap: schedule.overlap,
    calendarId: schedule.calendar_id ?? '',
    params: schedule.params === null ? '' : JSON.stringify(schedule.params, null, 2),
  };
}

/** Returns the timing for the preview and the server, or null while the form is incomplete. */
export function timingOf(draft: ScheduleDraft): ScheduleTiming | null {
  const window = { start_at: inputTime(draft.startAt), end_at: inputTime(draft.endAt) };
  const { timezone } = draft;
  const calendar_id = draft.calendarId || null;
  if (!timezone.trim()) return null;
  if (draft.kind === 'cron') {
    const cron = draft.cron.trim();
    return cron
      ? { kind: 'cron', cron, interval_seconds: null, timezone, ...window, calendar_id }
      : null;
  }
  if (draft.kind === 'once') {
    const onceAt = inputTime(draft.onceAt);
    if (onceAt === null) return null;
    return {
      kind: 'once',
      cron: null,
      interval_seconds: null,
      once_at: onceAt,
      timezone,
      calendar_id,
    };
  }
  if (draft.every === null) return null;
  const seconds = Math.round(draft.every * unitSeconds[draft.unit]);
  return {
    kind: 'interval',
    cron: null,
    interval_seconds: seconds,
    timezone,
    ...window,
    calendar_id,
  };
}

/** Returns the timing of an existing schedule from now on. An interval schedule starts at its next due time. */
export function comingOf(schedule: Schedule): ScheduleTiming | null {
  const timing = timingOf(draftOf(schedule));
  if (timing === null || schedule.kind !== 'interval') return timing;
  return { ...timing, start_at: schedule.next_fire_at ?? schedule.start_at };
}

/** Returns the request body for a new or changed schedule.
 *  @throws SyntaxError if the parameters are not a JSON object */
export function bodyOf(draft: ScheduleDraft): ScheduleChanges & Omit<NewSchedule, 'script_id'> {
  const timing = timingOf(draft);
  if (timing === null) throw new SyntaxError('Complete the schedule first.');
  return {
    ...timing,
    name: draft.name.trim() || null,
    catch_up: draft.catchUp,
    max_lateness_seconds: Math.round((draft.maxLatenessMinutes ?? 0) * 60),
    overlap: draft.overlap,
    params: paramsOf(draft.params),
  };
}

function paramsOf(text: string): Record<string, unknown> | null {
  if (!text.trim()) return null;
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new SyntaxError('Enter a JSON object, such as {"limit": 10}.');
}

function largestUnit(seconds: number): IntervalUnit {
  const units = (Object.keys(unitSeconds) as IntervalUnit[]).toReversed();
  return units.find((unit) => seconds % unitSeconds[unit] === 0) ?? 'seconds';
}
