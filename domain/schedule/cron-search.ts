/** Searches for local times that match a cron expression. A local time is represented by the milliseconds that it
 *  would have in UTC. `zone.ts` converts local times to instants. */
import type { Cron } from './cron.ts';

const dayMs = 86_400_000;
/** The number of days to search. Up to 40 years may pass between two leap days on the same weekday, because 2100 is
 *  not a leap year. */
const searchedDays = 41 * 366;

/** Returns the first matching local time at or after `fromMs`, or `undefined` if none exists. */
export function nextLocalTime(cron: Cron, fromMs: number): number | undefined {
  const firstDay = Math.floor(fromMs / dayMs) * dayMs;
  for (let day = firstDay, looked = 0; looked < searchedDays; looked += 1) {
    const date = new Date(day);
    if (!cron.months.has(date.getUTCMonth() + 1)) {
      day = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
      continue;
    }
    if (isDay(cron, date)) {
      const time = timeOfDay(cron, day === firstDay ? fromMs - day : 0);
      if (time !== undefined) return day + time;
    }
    day += dayMs;
  }
  return undefined;
}

function isDay({ days, weekdays, eitherDay }: Cron, date: Date): boolean {
  const day = date.getUTCDate();
  const weekday = date.getUTCDay();
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  const byDay = days.numbers.has(day) || (days.last && day === lastDay);
  const byWeekday =
    weekdays.numbers.has(weekday) ||
    (weekdays.last.has(weekday) && day > lastDay - 7) ||
    weekdays.nth.has(`${weekday}#${Math.ceil(day / 7)}`);
  return eitherDay ? byDay || byWeekday : byDay && byWeekday;
}

/** Returns the first matching time of day at or after `fromMs`, in milliseconds since midnight. */
function timeOfDay({ hours, minutes, seconds }: Cron, fromMs: number): number | undefined {
  const from = Math.ceil(fromMs / 1000);
  for (const hour of hours) {
    if (hour * 3600 + 3599 < from) continue;
    for (const minute of minutes) {
      const start = hour * 3600 + minute * 60;
      if (start + 59 < from) continue;
      const second = seconds.find((one) => start + one >= from);
      if (second !== undefined) return (start + second) * 1000;
    }
  }
  return undefined;
}
