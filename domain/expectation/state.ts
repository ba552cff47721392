import type { ExpectationEvent } from './events.ts';
import { missedKey, type MissedExpectation } from './expectation.ts';

export interface ExpectationState {
  /** The number of events in the stream. */
  readonly events: number;
  /** The missed expectations, oldest first. */
  readonly missed: readonly Pick<MissedExpectation, 'on' | 'key' | 'runId'>[];
}

export const initialExpectations: ExpectationState = { events: 0, missed: [] };

export function evolveExpectations(
  { events: before, missed }: ExpectationState,
  { type, data: { on, key, runId } }: ExpectationEvent,
): ExpectationState {
  const events = before + 1;
  const others = missed.filter((one) => missedKey(one) !== missedKey({ key, runId }));
  switch (type) {
    case 'ExpectationMissed':
      return { events, missed: [...others, { on, key, runId }] };
    case 'ExpectationCleared':
      return { events, missed: others };
  }
}
