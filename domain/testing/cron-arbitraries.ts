/** Generates random cron expressions that both `domain/schedule/cron.ts` and cron-parser accept. */
import fc from 'fast-check';

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const shapes = ['number', 'name', 'range', 'stepped range', 'open step'] as const;
type Shape = (typeof shapes)[number];

/** Generates a list without overlapping items, because cron-parser refuses overlapping items. */
function listOf(
  numbers: readonly number[],
  forms: readonly Shape[],
  step: number,
  names?: readonly string[],
) {
  const items: string[] = [];
  for (let index = 0; index < numbers.length; index += 1) {
    const number = numbers[index]!;
    const next = numbers[index + 1];
    const form = forms[index];
    const named = names?.[number - (names.length === 12 ? 1 : 0)] ?? String(number);
    if (next === undefined) items.push(form === 'open step' ? `${number}/${step}` : named);
    else if (form === 'range' || form === 'stepped range') {
      items.push(form === 'range' ? `${named}-${next}` : `${number}-${next}/${step}`);
      index += 1;
    } else items.push(form === 'name' ? named : String(number));
  }
  return items.join(',');
}

function field(min: number, max: number, names?: readonly string[]): fc.Arbitrary<string> {
  const step = fc.integer({ min: 1, max: Math.min(max, 12) });
  const numbers = fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 6 });
  const forms = fc.array(fc.constantFrom(...shapes), { minLength: 6, maxLength: 6 });
  const list = fc.tuple(numbers, forms, step).map(([chosen, ...rest]) =>
    listOf(
      chosen.toSorted((one, other) => one - other),
      ...rest,
      names,
    ),
  );
  return fc.oneof(
    { weight: 8, arbitrary: fc.constant('*') },
    { weight: 1, arbitrary: step.map((every) => `*/${every}`) },
    { weight: 3, arbitrary: list },
  );
}

const weekday = fc.integer({ min: 0, max: 7 });
const seconds = fc.option(field(0, 59), { nil: undefined, freq: 4 });
const days = fc.oneof(
  { weight: 12, arbitrary: field(1, 31) },
  fc.constantFrom('?', 'L'),
  fc.integer({ min: 1, max: 31 }).map((day) => `${day},L`),
);
const daysOfWeek = fc.oneof(
  { weight: 24, arbitrary: field(0, 6, weekdays) },
  fc.constantFrom('?', '7', 'FRI-7'),
  weekday.map((day) => `${day % 7}L`),
  fc.tuple(weekday, fc.integer({ min: 1, max: 5 })).map(([day, nth]) => `${day % 7}#${nth}`),
);

/** Generates expressions with five or six fields. */
export const cronExpression: fc.Arbitrary<string> = fc
  .tuple(seconds, field(0, 59), field(0, 23), days, field(1, 12, months), daysOfWeek)
  .map((parts) => parts.filter((part) => part !== undefined).join(' '));
