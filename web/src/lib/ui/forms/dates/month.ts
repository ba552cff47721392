/** Calendar functions for days such as "2026-11-25", without time zones. */
const dayMs = 86_400_000;

export function addDays(day: string, days: number): string {
  return dayOf(Date.parse(day) + days * dayMs);
}

/** Returns the same day in another month, or the last day of that month if it is shorter. */
export function addMonths(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const lastDate = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return dayOf(Date.UTC(year, month - 1 + months, Math.min(date, lastDate)));
}

/** Returns the weeks of the month that contains a day. Weeks begin on Monday. Days of adjacent months fill the first
 *  and last weeks. */
export function weeksOf(day: string): string[][] {
  const first = `${day.slice(0, 7)}-01`;
  const monday = addDays(first, -((new Date(first).getUTCDay() + 6) % 7));
  const next = addMonths(first, 1);
  const weeks: string[][] = [];
  for (let begin = monday; begin < next; begin = addDays(begin, 7)) {
    weeks.push(Array.from({ length: 7 }, (_, index) => addDays(begin, index)));
  }
  return weeks;
}

/** Formats a month, such as "November 2026". */
export function monthName(day: string): string {
  return new Date(day).toLocaleDateString('en-GB', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

/** Formats a day, such as "Wednesday, 25 November 2026". */
export function dayName(day: string): string {
  const date = new Date(day);
  const weekday = date.toLocaleDateString('en-GB', { weekday: 'long', timeZone: 'UTC' });
  return `${weekday}, ${date.getUTCDate()} ${monthName(day)}`;
}

/** Converts the text of a date-time field to a value such as "2026-11-25T14:30:00", or returns null if the text is no
 *  date. The default time is midnight. */
export function readDateTime(text: string): string | null {
  const form = /^(\d{4}-\d{2}-\d{2})(?:[T ]+(\d{2}:\d{2})(:\d{2})?)?$/;
  const [, day, time = '00:00', seconds = ''] = form.exec(text.trim()) ?? [];
  const value = `${day}T${time}${seconds}`;
  const ms = Date.parse(`${value}Z`);
  // Rejects days that do not exist, which Date would shift to the next month.
  return day !== undefined && !Number.isNaN(ms) && dayOf(ms) === day ? value : null;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
