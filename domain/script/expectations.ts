/** Expectations about the runs of a script (docs/expectations.md). */
import { cronProblem } from '#domain/schedule/schedule.ts';

export type Expectation =
  /** At least one run must succeed between two consecutive times of the cron expression. */
  | { readonly kind: 'finish_by'; readonly cron: string; readonly timezone: string }
  /** No more than this time may pass between two successful runs. */
  | { readonly kind: 'success_within'; readonly seconds: number }
  /** No run may take longer than this multiple of the p95 duration. */
  | { readonly kind: 'longer_than'; readonly factor: number };

export const maxExpectations = 8;
export const minSuccessWithin = 60;
export const maxSuccessWithin = 31_536_000;
export const minFactor = 1;
export const maxFactor = 1000;

/** Describes the problem with expectations. Returns `undefined` if they are valid. */
export function expectationsProblem(expectations: readonly Expectation[]): string | undefined {
  if (expectations.length > maxExpectations) return `there are more than ${maxExpectations}`;
  const keys = expectations.map(expectationKey);
  if (new Set(keys).size < keys.length) return 'an expectation is listed twice';
  return expectations.map(problemOf).find((problem) => problem !== undefined);
}

/** Returns a key that identifies an expectation within its script. Permanent, because events contain the key. */
export function expectationKey(expectation: Expectation): string {
  switch (expectation.kind) {
    case 'finish_by':
      return `finish_by ${expectation.cron} ${expectation.timezone}`;
    case 'success_within':
      return `success_within ${expectation.seconds}`;
    case 'longer_than':
      return `longer_than ${expectation.factor}`;
  }
}

function problemOf(expectation: Expectation): string | undefined {
  switch (expectation.kind) {
    case 'finish_by':
      return cronProblem(expectation.cron, expectation.timezone)?.detail;
    case 'success_within':
      return isBetween(expectation.seconds, minSuccessWithin, maxSuccessWithin)
        ? undefined
        : `"seconds" must be ${minSuccessWithin} to ${maxSuccessWithin}`;
    case 'longer_than':
      return isBetween(expectation.factor, minFactor, maxFactor)
        ? undefined
        : `"factor" must be ${minFactor} to ${maxFactor}`;
  }
}

function isBetween(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}
