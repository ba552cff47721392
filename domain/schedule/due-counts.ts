/** Counts the due times of schedules in consecutive intervals. */
import { dueAfter } from './due-times.ts';
import type { ScheduleDefinition } from './schedule.ts';
import { zoneOf } from './zone.ts';

export interface CountedSchedule {
  readonly definition: ScheduleDefinition;
  readonly createdAt: Date;
  /** The first due time that is counted. */
  readonly nextAt: Date;
}

/** Cron schedules with identical due times, which are counted together. */
interface Together {
  readonly definition: ScheduleDefinition;
  readonly createdAt: Date;
  count: number;
  next: Date | undefined;
  /** The number of due times per hour in the previous interval, if it was equal in all hours. */
  hourly?: number | undefined;
}

const hourMs = 3_600_000;

/** Counts the due times in each interval on demand.
 *  @param ends the exclusive end of each interval. The first interval begins with the first due time.
 *  @param most the maximum number of cron due times to search. Counting stops at an interval that exceeds this
 *  number. */
export function* dueCounts(
  schedules: readonly CountedSchedule[],
  ends: readonly Date[],
  most: number,
): Generator<number, void> {
  const crons = together(schedules.filter(({ definition }) => definition.kind !== 'interval'));
  const intervals = schedules.filter(({ definition }) => definition.kind === 'interval');
  let left = most;
  let from: Date | undefined;
  for (const to of ends) {
    let count = 0;
    for (const cron of crons) {
      const isHour = from !== undefined && to.getTime() - from.getTime() === hourMs;
      const isEvenHour = isHour && isAlike(cron.definition, to);
      if (isEvenHour && cron.hourly !== undefined && cron.next !== undefined) {
        count += cron.count * cron.hourly;
        cron.next = new Date(cron.next.getTime() + hourMs);
        continue;
      }
      const before = left;
      while (cron.next !== undefined && cron.next < to) {
        if (left === 0) return;
        left -= 1;
        count += cron.count;
        cron.next = dueAfter(cron.definition, cron.createdAt, cron.next);
      }
      cron.hourly = isEvenHour ? before - left : undefined;
    }
    for (const interval of intervals) count += intervalCount(interval, from, to);
    yield count;
    from = to;
  }
}

/** Whether the hour before `to` has the same number of due times as the previous hour. This requires that the
 *  expression does not restrict the hours and that the UTC offset does not change. */
function isAlike({ cron, timezone, startAt, endAt }: ScheduleDefinition, to: Date): boolean {
  const zone = zoneOf(timezone);
  if (zone === undefined || startAt !== null || endAt !== null) return false;
  if (!/^(@hourly|\S+( \S+)? \* \* \* \*)$/.test(cron ?? '')) return false;
  const offset = zone.offsetMs(to.getTime());
  return [1, 2].every((hours) => zone.offsetMs(to.getTime() - hours * hourMs) === offset);
}

function together(schedules: readonly CountedSchedule[]): readonly Together[] {
  const groups = new Map<string, Together>();
  for (const { definition, createdAt, nextAt } of schedules) {
    const { cron, timezone, startAt, endAt } = definition;
    const key = JSON.stringify([cron, timezone, startAt, endAt, nextAt]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { definition, createdAt, count: 1, next: nextAt });
    else group.count += 1;
  }
  return [...groups.values()];
}

/** Computes the number of due times without iterating over them. */
function intervalCount(
  { definition, createdAt, nextAt }: CountedSchedule,
  from: Date | undefined,
  to: Date,
): number {
  const isFirst = from === undefined || from <= nextAt;
  const first = isFirst ? nextAt : dueAfter(definition, createdAt, new Date(from.getTime() - 1));
  if (first === undefined || first >= to) return 0;
  const endMs = definition.endAt === null ? Infinity : Date.parse(definition.endAt);
  const lastMs = Math.min(to.getTime() - 1, endMs);
  return Math.floor((lastMs - first.getTime()) / ((definition.intervalSeconds ?? 1) * 1000)) + 1;
}
