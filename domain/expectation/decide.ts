import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, type Decision } from '#domain/kernel/decision.ts';
import type { ExpectationCommand } from './commands.ts';
import type { ExpectationEvent } from './events.ts';
import { missedKey } from './expectation.ts';
import { evolveExpectations, initialExpectations, type ExpectationState } from './state.ts';

export function decideExpectations(
  state: ExpectationState,
  { scriptId, missed, checked, seen }: ExpectationCommand,
): Decision<ExpectationEvent> {
  if (seen !== state.events) return accept();
  const before = new Set(state.missed.map(missedKey));
  const now = new Set(missed.map(missedKey));
  return accept(
    ...state.missed
      .filter((one) => !now.has(missedKey(one)))
      .map(({ on, key, runId }): ExpectationEvent => {
        const reason = checked.includes(key) ? 'met' : 'not_checked';
        return { type: 'ExpectationCleared', data: { scriptId, on, key, runId, reason } };
      }),
    ...missed
      .filter((one) => !before.has(missedKey(one)))
      .map((one): ExpectationEvent => ({ type: 'ExpectationMissed', data: { scriptId, ...one } })),
  );
}

export const expectationAggregate: Aggregate<
  ExpectationState,
  ExpectationCommand,
  ExpectationEvent
> = {
  streamType: 'expectation',
  commands: { NoteExpectations: true },
  events: { ExpectationMissed: true, ExpectationCleared: true },
  initial: initialExpectations,
  evolve: evolveExpectations,
  stateVersion: 1,
  decide: decideExpectations,
  streamOf: (command) => `expectation-${command.scriptId}`,
  guards: () => [],
  readFacts: () => Promise.resolve(undefined),
};
