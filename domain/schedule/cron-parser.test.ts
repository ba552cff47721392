/** Compares due times with those of cron-parser, which may differ only in the ways listed in ADR 13. */
import { CronExpressionParser } from 'cron-parser';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cronExpression } from '#domain/testing/cron-arbitraries.ts';
import { parseCron } from './cron.ts';
import { dueAfter } from './due-times.ts';

const seed = 20_261_123;
const cases = 5_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const firstMs = Date.UTC(2024, 0, 1);
const lastMs = Date.UTC(2034, 0, 1);

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago', // Clocks go forward at midnight.
  'America/St_Johns',
  'Asia/Kathmandu',
  'Asia/Gaza',
  'Africa/Casablanca', // Uses winter time only in Ramadan.
  'Atlantic/Azores',
] as const;
type TimeZone = (typeof zones)[number] | 'Australia/Lord_Howe';

interface Change {
  readonly atMs: number;
  /** Positive if the clocks go forward, negative if they go back. */
  readonly movedMs: number;
}

interface Clock {
  /** The local time, in the milliseconds that it would have in UTC. */
  readonly shows: (atMs: number) => number;
  readonly changes: readonly Change[];
}

/** Reads the time zone from `Intl`, with a different method from `zone.ts`. */
function clockOf(timeZone: string): Clock {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  const shows = (atMs: number) => Date.parse(`${format.format(atMs).replace(' ', 'T')}Z`);
  const offset = (atMs: number) => shows(atMs) - atMs;
  const changes: Change[] = [];
  for (let startMs = firstMs; startMs < lastMs; startMs += 7 * dayMs) {
    let [low, high] = [startMs, startMs + 7 * dayMs];
    const movedMs = offset(high) - offset(low);
    if (movedMs === 0) continue;
    while (high - low > 60_000) {
      const middle = Math.floor((low + high) / 120_000) * 60_000;
      if (offset(middle) === offset(low)) low = middle;
      else high = middle;
    }
    changes.push({ atMs: high, movedMs });
  }
  return { shows, changes };
}

const clocks = new Map(
  [...zones, 'Australia/Lord_Howe' as const].map((zone): [TimeZone, Clock] => [
    zone,
    clockOf(zone),
  ]),
);

interface Case {
  readonly cron: string;
  readonly timezone: TimeZone;
  readonly fromMs: number;
}

const anyMs = fc.integer({ min: firstMs / 1000, max: lastMs / 1000 }).map((at) => at * 1000);

/** Half of the times are on days near a clock change. */
const somewhere = fc
  .oneof(
    { weight: 40, arbitrary: fc.constantFrom(...zones) },
    // Rare, because cron-parser searches for half a second before it fails at a clock change of 30 minutes.
    { weight: 1, arbitrary: fc.constant('Australia/Lord_Howe' as const) },
  )
  .chain((timezone) => {
    const { changes } = clocks.get(timezone)!;
    const near = changes.map(({ atMs }) =>
      fc.integer({ min: -90_000, max: 20_000 }).map((seconds) => atMs + seconds * 1000),
    );
    return fc.record({
      timezone: fc.constant(timezone),
      fromMs: fc.oneof({ weight: Math.max(1, near.length), arbitrary: anyMs }, ...near),
    });
  });
const anyCase: fc.Arbitrary<Case> = fc
  .tuple(cronExpression, somewhere)
  .map(([cron, rest]) => ({ cron, ...rest }));

type Answer = number | undefined;
type Program = (one: Case) => Answer;

const ours: Program = ({ cron, timezone, fromMs }) =>
  dueAfter(
    {
      kind: 'cron',
      cron,
      timezone,
      intervalSeconds: null,
      startAt: null,
      endAt: null,
      enabled: true,
      catchUp: 'last',
      maxLatenessSeconds: 3600,
      overlap: 'skip',
      paramsSha256: null,
    },
    new Date(0),
    new Date(fromMs),
  )?.getTime();

/** Returns the equivalent expression for cron-parser. In cron-parser, a weekday with an open step extends to 7. */
const translated = (cron: string) => cron.replace(/(?<=[ ,])(\d)\/(\d+)$/, '$1-6/$2');
const parsed = (cron: string, tz: string, fromMs: number) =>
  CronExpressionParser.parse(translated(cron), { tz, currentDate: new Date(fromMs) });

const givesUp = /Invalid explicit day of month|loop limit exceeded/;

const theirs: Program = ({ cron, timezone, fromMs }) => {
  try {
    return parsed(cron, timezone, fromMs).next().getTime();
  } catch (error) {
    if (error instanceof Error && givesUp.test(error.message)) return undefined;
    throw error;
  }
};

/** How a time relates to the expression. `foreign` times are not due according to the contract. */
type Standing = 'usual' | 'first pass' | 'second pass' | 'moved by the gap' | 'foreign';

function standingOf({ cron, timezone }: Case, atMs: number): Standing {
  const { shows, changes } = clocks.get(timezone)!;
  const inUtc = parsed(cron, 'UTC', atMs);
  const names = (localMs: number) => inUtc.includesDate(new Date(localMs));
  const local = shows(atMs);
  const near = changes.find((change) => Math.abs(change.atMs - atMs) <= Math.abs(change.movedMs));
  const sinceMs = near === undefined ? 0 : atMs - near.atMs;
  if (near !== undefined && near.movedMs > 0 && sinceMs >= 0 && sinceMs < near.movedMs) {
    if (names(local - near.movedMs)) return 'moved by the gap';
  }
  if (!names(local)) return 'foreign';
  if (near === undefined || near.movedMs > 0 || sinceMs >= -near.movedMs) return 'usual';
  if (sinceMs < near.movedMs) return 'usual';
  return sinceMs < 0 ? 'first pass' : 'second pass';
}

const isEveryN = (cron: string) => {
  const parts = cron.split(' ');
  return parts.slice(0, parts.length - 3).some((part) => part.startsWith('*'));
};

const isDue = ({ cron }: Case, standing: Standing) =>
  standing === 'second pass' ? isEveryN(cron) : standing !== 'foreign';

/** Classifies the difference between two results. To be explained, our result must be a due time according to the
 *  contract. In addition, cron-parser must skip this due time or return a time that is not due. */
function differenceOf(one: Case, mine: Answer, other: Answer): string {
  if (mine === undefined) return 'unexplained: no due time';
  const standing = standingOf(one, mine);
  if (!isDue(one, standing)) return `unexplained: a ${standing} moment`;
  if (other !== undefined && other < mine) {
    const earlier = standingOf(one, other);
    if (isDue(one, earlier)) return `unexplained: misses a ${earlier} moment`;
    return earlier === 'second pass'
      ? 'repeats a named time in the second pass'
      : 'fires at a time that the expression does not name';
  }
  const { changes } = clocks.get(one.timezone)!;
  const isNear = changes.some(({ atMs }) => Math.abs(atMs - mine) < dayMs);
  if (standing === 'usual' && !isNear) return 'unexplained: no change of the clocks';
  return `leaves out: ${standing}`;
}

/** Counts the differences.
 *  @returns the number of cases by kind of difference
 *  @throws Error if a difference is not explained */
function compare(program: Program): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const property = fc.property(anyCase, (one) => {
    const [mine, other] = [program(one), theirs(one)];
    if (mine === other) return;
    const difference = differenceOf(one, mine, other);
    counts.set(difference, (counts.get(difference) ?? 0) + 1);
    if (!difference.startsWith('unexplained')) return;
    const [here, there] = [mine, other].map((at) => (at === undefined ? at : isoOf(at)));
    throw new Error(`${difference}; here ${here}, cron-parser ${there}`);
  });
  fc.assert(property, { seed, numRuns: cases, endOnFailure: true, includeErrorInReport: true });
  return counts;
}

const isoOf = (atMs: number) => new Date(atMs).toISOString();

/** Implementations that each contain one defect. */
const mistakes: Record<string, Program> = {
  'is a minute late': (one) => ours({ ...one, fromMs: one.fromMs + 60_000 }),
  'treats L as 31': (one) => ours({ ...one, cron: one.cron.replace('L', '31') }),
  'treats the last weekday as every weekday of that name': (one) =>
    ours({ ...one, cron: one.cron.replace(/(\d)L$/, '$1') }),
  'ignores the weekday if the day is restricted': (one) =>
    ours({ ...one, cron: one.cron.replace(/[^ ]+$/, '*') }),
  'starts every step at zero': (one) => ours({ ...one, cron: one.cron.replace(/\d+\//, '0/') }),
  'ignores the end of a range': (one) => ours({ ...one, cron: one.cron.replace(/-\d+/, '') }),
  'omits the second pass of every n': (one) => {
    const at = ours(one);
    const isSecond = at !== undefined && standingOf(one, at) === 'second pass';
    return isSecond ? ours({ ...one, fromMs: at + hourMs }) : at;
  },
  'leaves times in the gap': (one) => {
    const at = ours(one);
    const isMoved = at !== undefined && standingOf(one, at) === 'moved by the gap';
    return isMoved ? at - hourMs / 2 : at;
  },
};

/** The difference that occurs only within a day of a clock change. It has too many variants for a single example. */
const nearChange = 'leaves out: usual';

/** An example of each other kind of difference. */
const known: readonly [difference: string, timezone: TimeZone, cron: string, from: string][] = [
  ['leaves out: moved by the gap', 'Australia/Lord_Howe', '10 2 * * *', '2026-10-03T00:00:00Z'],
  ['leaves out: second pass', 'Atlantic/Azores', '10-19 */7 * * *', '2026-10-25T00:59:51Z'],
  ['leaves out: first pass', 'Atlantic/Azores', '34 * * * */5', '2033-10-29T15:41:15Z'],
  [
    'repeats a named time in the second pass',
    'Europe/Berlin',
    '13-15 1-10 * * *',
    '2026-10-25T01:00:10Z',
  ],
];

describe('random expressions, zones and times', () => {
  test('have the same due times as in cron-parser, except for the listed differences', () => {
    const names = [...known.map(([name]) => name), nearChange];
    expect(names).toEqual(expect.arrayContaining([...compare(ours).keys()]));
  }, 120_000);

  test.each(known)(
    'show the known difference "%s" in %s with %s',
    (difference, timezone, cron, from) => {
      const one = { cron, timezone, fromMs: Date.parse(from) };
      expect(differenceOf(one, ours(one), theirs(one))).toBe(difference);
    },
  );

  test.each(Object.entries(mistakes))(
    'reveal a faulty implementation that %s',
    (_, program) => {
      expect(() => compare(program)).toThrow('unexplained');
    },
    120_000,
  );
});

describe('an expression that only cron-parser accepts', () => {
  test.each(['', '* * * *', 'H * * * *'])('is refused by the schedule parser: "%s"', (cron) => {
    expect(() => CronExpressionParser.parse(cron)).not.toThrow();
    expect(parseCron(cron)).toEqual(expect.any(String));
  });
});

test('an open-ended step of weekdays stops at Saturday, unlike in cron-parser, which includes Sunday', () => {
  const options = { tz: 'UTC', currentDate: new Date('2026-01-02T12:00:00Z') };
  const next = CronExpressionParser.parse('0 0 * * 5/2', options).next().toISOString();
  expect(next).toBe('2026-01-04T00:00:00.000Z');
  const fromMs = options.currentDate.getTime();
  expect(ours({ cron: '0 0 * * 5/2', timezone: 'UTC', fromMs })).toBe(Date.UTC(2026, 0, 9));
});
