import cronstrue from 'cronstrue';
import type { DueTime, Schedule } from '#lib/api/types.ts';
import { localTime } from '#lib/ui/format.ts';

/** Describes a cron expression; returns null if the expression appears invalid. The server makes the final decision. */
export function describeCron(cron: string): string | null {
  try {
    const words = cronstrue.toString(cron, { use24HourTimeFormat: true });
    const daily = /^At ([\d:]+)$/.exec(words);
    if (daily) return `Every day at ${daily[1]}`;
    // As in any cron, an expression with both a day of the month and a weekday is due when either matches.
    return words.replace(', and on ', ', or on ');
  } catch {
    return null;
  }
}

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Describes an interval, such as "Every 5 minutes" or "Every day". */
export function describeInterval(seconds: number): string {
  const [unit, size] = units.find(([, of]) => seconds % of === 0) ?? units[3];
  const count = seconds / size;
  return count === 1 ? `Every ${unit}` : `Every ${count} ${unit}s`;
}

/** The name of a schedule. For a schedule without a name, describes when the schedule is due. */
export function scheduleTitle(schedule: Schedule): string {
  return schedule.name ?? describeSchedule(schedule);
}

/** Describes when a schedule is due. */
export function describeSchedule(
  schedule: Pick<Schedule, 'cron' | 'interval_seconds'> & Partial<Pick<Schedule, 'once_at'>>,
): string {
  if (schedule.once_at) return `Once, ${localTime(schedule.once_at)}`;
  if (schedule.interval_seconds !== null) return describeInterval(schedule.interval_seconds);
  const cron = schedule.cron ?? '';
  return describeCron(cron) ?? cron;
}

export const catchUpLabels: Record<Schedule['catch_up'], string> = {
  none: 'Skip missed runs',
  last: 'Run once, for the last missed due time',
  all: 'Run once for each missed due time',
};

export const overlapLabels: Record<Schedule['overlap'], string> = {
  skip: 'Skip this run',
  queue: 'Queue the run',
  cancel_previous: 'Stop the previous run, then start',
};

/** Describes whether the previous run may still be active at a due time, and whether other schedules are due then. */
export function describeOverlap({
  overlap,
  together,
}: Pick<DueTime, 'overlap' | 'together'>): string[] {
  const overlaps = {
    likely: 'Previous run will likely still be active',
    possible: 'Previous run may still be active',
  };
  const others = together.length === 1 ? 'another schedule' : `${together.length} other schedules`;
  return [
    ...(overlap === null ? [] : [overlaps[overlap]]),
    ...(together.length === 0 ? [] : [`Coincides with ${others} of this script`]),
  ];
}

/** Names the calendar event that excludes a due time, or returns null if none exists. */
export function describeSkip({ skipped }: Pick<DueTime, 'skipped'>): string | null {
  return skipped === null ? null : `Skipped: ${skipped}`;
}

/** Explains why a due time started no run. */
export function describeReason(reason: string): string {
  return reason === 'calendar_event' ? 'A calendar event excludes this due time.' : reason;
}
