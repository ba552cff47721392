/** Checks the expectations of a script. */
import type { RunId } from '#domain/kernel/ids.ts';
import { nextCronTime } from '#domain/schedule/due-times.ts';
import { localText } from '#domain/schedule/local-time.ts';
import { zoneOf } from '#domain/schedule/zone.ts';
import { expectationKey, type Expectation } from '#domain/script/expectations.ts';
import { notificationOf, type MissedExpectation } from './expectation.ts';

/** The minimum number of successful runs for which a p95 is computed. */
export const minUsualRuns = 5;

export interface ExpectationFacts {
  /** When the expectations were set, or when the script was last enabled or restored, whichever is later. */
  readonly since: Date;
  readonly lastSuccessAt: Date | null;
  readonly running: readonly { readonly runId: RunId; readonly startedAt: Date }[];
  /** The p95 duration of the latest successful runs. `null` if there are fewer than `minUsualRuns`. */
  readonly p95Ms: number | null;
}

/** Returns the expectations that are missed at `now`. */
export function missedExpectations(
  expectations: readonly Expectation[],
  facts: ExpectationFacts,
  now: Date,
): readonly MissedExpectation[] {
  return expectations.flatMap((expectation) => {
    const of = { on: notificationOf[expectation.kind], key: expectationKey(expectation) };
    return missesOf(expectation, facts, now).map((miss) => ({ ...of, ...miss }));
  });
}

type Miss = Pick<MissedExpectation, 'runId' | 'detail'>;

function missesOf(expectation: Expectation, facts: ExpectationFacts, now: Date): readonly Miss[] {
  switch (expectation.kind) {
    case 'finish_by':
      return lateness(expectation, facts, now);
    case 'success_within':
      return staleness(expectation.seconds, facts, now);
    case 'longer_than':
      return longRuns(expectation.factor, facts, now);
  }
}

/** Finds the latest missed deadline. A successful run meets only the first deadline at or after its end. */
function lateness(
  { cron, timezone }: Extract<Expectation, { kind: 'finish_by' }>,
  { since, lastSuccessAt }: ExpectationFacts,
  now: Date,
): readonly Miss[] {
  const met = lastSuccessAt && nextCronTime(cron, timezone, new Date(lastSuccessAt.getTime() - 1));
  const deadline = nextCronTime(cron, timezone, met && met > since ? met : since);
  if (deadline === undefined || deadline > now) return [];
  const zone = zoneOf(timezone);
  const local = zone === undefined ? utcText(deadline) : readable(localText(zone, deadline));
  return [{ runId: null, detail: `No run succeeded by ${local}.` }];
}

function staleness(
  seconds: number,
  { since, lastSuccessAt }: ExpectationFacts,
  now: Date,
): readonly Miss[] {
  const from = lastSuccessAt && lastSuccessAt > since ? lastSuccessAt : since;
  if (now.getTime() - from.getTime() <= seconds * 1000) return [];
  const last =
    lastSuccessAt === null
      ? 'No earlier run succeeded.'
      : `Last success: ${utcText(lastSuccessAt)}.`;
  return [{ runId: null, detail: `No run has succeeded for ${durationText(seconds)}. ${last}` }];
}

function longRuns(
  factor: number,
  { running, p95Ms }: ExpectationFacts,
  now: Date,
): readonly Miss[] {
  if (p95Ms === null) return [];
  const usual = durationText(p95Ms / 1000);
  const detail = `The run takes longer than ${factor} times the usual duration (p95: ${usual}).`;
  return running
    .filter(({ startedAt }) => now.getTime() - startedAt.getTime() > factor * p95Ms)
    .map(({ runId }) => ({ runId, detail }));
}

/** Formats a time, such as `2026-01-01 12:00:00 UTC`. */
function utcText(time: Date): string {
  return `${readable(time.toISOString().slice(0, 19))} UTC`;
}

/** Separates date and time with a space for readability. */
function readable(time: string): string {
  return time.replace('T', ' ');
}

/** Formats a duration in its largest whole unit, such as `2 h`. */
function durationText(seconds: number): string {
  for (const [unit, size] of [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
  ] as const) {
    if (seconds >= size && seconds % size === 0) return `${seconds / size} ${unit}`;
  }
  return `${Number(seconds.toFixed(1))} s`;
}
