/** The types of missed expectations (docs/expectations.md). */
import type { RunId } from '#domain/kernel/ids.ts';
import type { Expectation } from '#domain/script/expectations.ts';

export const missedKinds = ['run_late', 'script_stale', 'run_too_long'] as const;
/** The notification events for missed expectations. */
export type MissedKind = (typeof missedKinds)[number];

export const notificationOf: Readonly<Record<Expectation['kind'], MissedKind>> = {
  finish_by: 'run_late',
  success_within: 'script_stale',
  longer_than: 'run_too_long',
};

export interface MissedExpectation {
  readonly on: MissedKind;
  /** Identifies the expectation (see `expectationKey`). */
  readonly key: string;
  /** The run that takes too long. `null` for other kinds of expectations. */
  readonly runId: RunId | null;
  /** The sentence that the notification contains. */
  readonly detail: string;
}

/** Why a missed expectation was cleared. `met` means that the expectation is met again. `not_checked` means that the
 *  expectation was removed, or that its script was disabled or deleted. */
export type ClearedReason = 'met' | 'not_checked';

/** Returns a key that identifies a missed expectation within its script. */
export function missedKey({ key, runId }: Pick<MissedExpectation, 'key' | 'runId'>): string {
  return runId === null ? key : `${key} ${runId}`;
}
