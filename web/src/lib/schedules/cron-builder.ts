/** Builds common cron expressions from form fields, and parses them into form fields. */

export const frequencies = ['minutes', 'hourly', 'daily', 'weekly', 'monthly'] as const;
export type Frequency = (typeof frequencies)[number];

export interface CronChoice {
  frequency: Frequency;
  /** The interval in minutes. */
  every: number;
  minute: number;
  hour: number;
  /** Weekdays in ascending order, starting at 0 for Sunday; never empty. */
  weekdays: readonly number[];
  dayOfMonth: number;
}

export const defaultChoice: CronChoice = {
  frequency: 'daily',
  every: 15,
  minute: 0,
  hour: 9,
  weekdays: [1, 2, 3, 4, 5],
  dayOfMonth: 1,
};

export function cronOf(choice: CronChoice): string {
  const { frequency, every, minute, hour, weekdays, dayOfMonth } = choice;
  switch (frequency) {
    case 'minutes':
      return `*/${every} * * * *`;
    case 'hourly':
      return `${minute} * * * *`;
    case 'daily':
      return `${minute} ${hour} * * *`;
    case 'weekly':
      return `${minute} ${hour} * * ${weekdays.join(',')}`;
    case 'monthly':
      return `${minute} ${hour} ${dayOfMonth} * *`;
  }
}

/** Parses a cron expression; returns null if the form fields cannot represent it. */
export function choiceOf(cron: string): CronChoice | null {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...rest] = cron
    .trim()
    .split(/\s+/);
  if (rest.length > 0 || month !== '*') return null;
  const every = /^\*\/(\d{1,2})$/.exec(minute)?.[1];
  if (every && hour === '*' && day === '*' && weekday === '*') {
    return { ...defaultChoice, frequency: 'minutes', every: Number(every) };
  }
  if (!isNumber(minute)) return null;
  const at = { ...defaultChoice, minute: Number(minute) };
  if (hour === '*' && day === '*' && weekday === '*') return { ...at, frequency: 'hourly' };
  if (!isNumber(hour)) return null;
  const then = { ...at, hour: Number(hour) };
  if (day === '*' && weekday === '*') return { ...then, frequency: 'daily' };
  if (day === '*') {
    const weekdays = daysIn(weekday);
    return weekdays && { ...then, frequency: 'weekly', weekdays };
  }
  if (weekday !== '*' || !isNumber(day)) return null;
  return { ...then, frequency: 'monthly', dayOfMonth: Number(day) };
}

const isNumber = (text: string): boolean => /^\d{1,2}$/.test(text);

/** Parses weekdays such as "1-5" or "1,3"; returns null for any other text. */
function daysIn(text: string): number[] | null {
  const days = text.split(',').flatMap((part) => {
    const [, first, last = first] = /^([0-6])(?:-([0-6]))?$/.exec(part) ?? [];
    if (first === undefined || last === undefined) return [Number.NaN];
    return Array.from(
      { length: Number(last) - Number(first) + 1 },
      (_, index) => Number(first) + index,
    );
  });
  return days.length === 0 || days.some(Number.isNaN)
    ? null
    : [...new Set(days)].toSorted((one, other) => one - other);
}
