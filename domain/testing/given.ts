/** Helpers for tests of decisions. Given past events and a command, they return the recorded events. */
import type { Aggregate } from '#domain/kernel/aggregate.ts';
import type { Decision, RefusalCode } from '#domain/kernel/decision.ts';
import type { DomainEvent } from '#domain/kernel/event.ts';
import { expect } from 'vitest';
import { stored } from './stored.ts';

/** The decision under test. */
export interface Decided<Event> {
  readonly thenRecords: (...events: readonly Event[]) => void;
  readonly thenRecordsNothing: () => void;
  readonly thenRefuses: (code: RefusalCode) => void;
}

/** `facts` can be omitted if the aggregate requires none. */
type FactsOf<Facts> = undefined extends Facts ? [facts?: Facts] : [facts: Facts];

/** Folds `events` and decides the command on the resulting state. */
export function given<
  State,
  Command extends { readonly type: string },
  Event extends DomainEvent,
  Facts,
>(aggregate: Aggregate<State, Command, Event, Facts>, ...events: readonly Event[]) {
  const state = fold(aggregate, events);
  return {
    when: (command: Command, ...[facts]: FactsOf<Facts>): Decided<Event> =>
      look(aggregate.decide(state, command, facts as Facts)),
  };
}

function look<Event>(decision: Decision<Event>): Decided<Event> {
  return {
    thenRecords: (...events) => expect(decision).toEqual({ kind: 'accepted', events }),
    thenRecordsNothing: () => expect(decision).toEqual({ kind: 'accepted', events: [] }),
    thenRefuses: (code) =>
      expect(decision).toEqual({
        kind: 'refused',
        refusal: { code, detail: expect.stringMatching(/^[A-Z0-9].*\.$/) },
      }),
  };
}

/** Returns the state after `events`. Each event is converted as if it had been read from the store. */
export function fold<State, Command extends { readonly type: string }, Event extends DomainEvent>(
  aggregate: Pick<Aggregate<State, Command, Event, never>, 'initial' | 'evolve'>,
  events: readonly Event[],
): State {
  return events.reduce(
    (state, event, index) => aggregate.evolve(state, stored(event), index + 1),
    aggregate.initial,
  );
}
