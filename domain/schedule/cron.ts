/** Parses cron expressions. */

/** The matching values of each field in ascending order. Sunday is 0. */
export interface Cron {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: ReadonlySet<number>;
  readonly days: DaysOfMonth;
  readonly weekdays: Weekdays;
  /** Whether a date matches if either the day or the weekday matches. As in other cron implementations, this is true
   *  if the expression restricts both fields. */
  readonly eitherDay: boolean;
  /** Whether the time of day recurs at a step ("every n") and is not fixed. When the clocks go back, such a time is
   *  due in both occurrences of the repeated hour. */
  readonly everyN: boolean;
}

interface DaysOfMonth {
  readonly numbers: ReadonlySet<number>;
  /** Whether the last day of the month matches (`L`). */
  readonly last: boolean;
}

interface Weekdays {
  readonly numbers: ReadonlySet<number>;
  /** Weekdays whose last occurrence in the month matches (`5L`). */
  readonly last: ReadonlySet<number>;
  /** Occurrences of a weekday in the month, such as `5#2` for the second Friday. */
  readonly nth: ReadonlySet<string>;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

const fields = {
  second: { name: 'second', min: 0, max: 59 },
  minute: { name: 'minute', min: 0, max: 59 },
  hour: { name: 'hour', min: 0, max: 23 },
  day: { name: 'day of the month', min: 1, max: 31 },
  month: { name: 'month', min: 1, max: 12, names: months },
  weekday: { name: 'day of the week', min: 0, max: 7, names: weekdays },
} as const satisfies Record<string, Field>;

const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** Describes an error in an expression to the user who wrote it. */
class CronProblem extends Error {}

/** Parses a macro such as `@hourly`, or an expression with five fields. An expression may have a sixth field at the
 *  start, for seconds.
 *  @returns the parsed expression or a description of the error. Does not check whether the expression ever matches */
export function parseCron(text: string): Cron | string {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof CronProblem) return error.message;
    throw error;
  }
}

function read(text: string): Cron {
  const expression = text.trim().startsWith('@') ? macro(text.trim()) : text;
  const parts = expression.toUpperCase().split(/\s+/).filter(Boolean);
  if (parts.length !== 5 && parts.length !== 6) {
    throw new CronProblem(
      `A cron expression has 5 fields, or 6 with seconds first. This expression has ${parts.length}.`,
    );
  }
  const [second, minute, hour, day, month, weekday] = (
    parts.length === 5 ? ['0', ...parts] : parts
  ) as [string, string, string, string, string, string];
  return {
    seconds: sorted(numbersOf(second, fields.second)),
    minutes: sorted(numbersOf(minute, fields.minute)),
    hours: sorted(numbersOf(hour, fields.hour)),
    months: numbersOf(month, fields.month),
    days: daysOf(day),
    weekdays: weekdaysOf(weekday),
    eitherDay: !isAny(day) && !isAny(weekday),
    everyN: [second, minute, hour].some((part) => part.startsWith('*')),
  };
}

function macro(text: string): string {
  const expression = macros[text.toLowerCase()];
  if (expression !== undefined) return expression;
  throw new CronProblem(
    `"${text}" is not a known macro. Use one of ${Object.keys(macros).join(', ')}.`,
  );
}

const isAny = (part: string): boolean => part === '*' || part === '?';

function daysOf(part: string): DaysOfMonth {
  const items = part === '?' ? ['*'] : part.split(',');
  const plain = items.filter((item) => item !== 'L');
  return { numbers: unionOf(plain, fields.day), last: plain.length < items.length };
}

function weekdaysOf(part: string): Weekdays {
  const last = new Set<number>();
  const nth = new Set<string>();
  const plain: string[] = [];
  for (const item of part === '?' ? ['*'] : part.split(',')) {
    const special = /^(\w+?)(?:(L)|#(\d+))$/.exec(item);
    if (special === null || item === 'L') {
      plain.push(item);
      continue;
    }
    const day = numberOf(special[1] ?? '', fields.weekday, item) % 7;
    const place = special[3];
    if (place === undefined) last.add(day);
    else if (/^[1-5]$/.test(place)) nth.add(`${day}#${place}`);
    else throw new CronProblem(`In "${item}", the number after # must be from 1 to 5.`);
  }
  const numbers = [...unionOf(plain, fields.weekday)].map((day) => day % 7);
  return { numbers: new Set(numbers), last, nth };
}

function numbersOf(part: string, field: Field): ReadonlySet<number> {
  return unionOf(part.split(','), field);
}

function unionOf(items: readonly string[], field: Field): ReadonlySet<number> {
  return new Set(items.flatMap((item) => rangeOf(item, field)));
}

/** Parses `*`, `5` or `1-5`, optionally with a step. `5/10` extends from 5 to the end of the range. */
function rangeOf(item: string, field: Field): readonly number[] {
  const [range = '', step, ...tooMany] = item.split('/');
  const [from = '', to, ...more] = range.split('-');
  if (tooMany.length > 0 || more.length > 0) throw unreadable(item, field);
  const every = step === undefined ? 1 : stepOf(step, item);
  const wild = range === '*';
  // Both 0 and 7 mean Sunday. A range over all weekdays must contain Sunday only once.
  const end = field.max === 7 ? 6 : field.max;
  const first = wild ? field.min : numberOf(from, field, item);
  const open = wild || (to === undefined && step !== undefined);
  const last = open ? Math.max(end, first) : numberOf(to ?? from, field, item);
  if (last < first)
    throw new CronProblem(`In "${item}", the ${field.name} range ends before it starts.`);
  const found: number[] = [];
  for (let number = first; number <= last; number += every) found.push(number);
  return found;
}

function stepOf(text: string, item: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) > 0) return Number(text);
  throw new CronProblem(`In "${item}", the step after / must be a whole number of at least 1.`);
}

function numberOf(text: string, field: Field, item: string): number {
  const name = field.names?.indexOf(text) ?? -1;
  if (name !== -1) return name + field.min;
  if (!/^\d{1,4}$/.test(text)) throw unreadable(item, field);
  const number = Number(text);
  if (number >= field.min && number <= field.max) return number;
  throw new CronProblem(
    `The ${field.name} must be from ${field.min} to ${field.max}; "${item}" is out of range.`,
  );
}

function unreadable(item: string, field: Field): CronProblem {
  return new CronProblem(`"${item}" is not a valid ${field.name}.`);
}

function sorted(numbers: ReadonlySet<number>): readonly number[] {
  return [...numbers].toSorted((one, other) => one - other);
}
