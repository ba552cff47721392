/** Executes commands in order, each on the state that results from the previous commands. */
import type { Aggregate } from '#domain/kernel/aggregate.ts';
import type { Decision } from '#domain/kernel/decision.ts';
import type { DomainEvent } from '#domain/kernel/event.ts';
import { fold } from './given.ts';

export interface Step<State, Command, Event> {
  readonly command: Command;
  readonly streamId: string;
  readonly decision: Decision<Event>;
  /** The events and state of the stream after the decision. */
  readonly history: readonly Event[];
  readonly after: State;
  /** The decision on the same command repeated. */
  readonly repeated: Decision<Event>;
}

/** Executes commands with their facts. */
export function steps<
  State,
  Command extends { readonly type: string },
  Event extends DomainEvent,
  Facts,
>(
  aggregate: Aggregate<State, Command, Event, Facts>,
  asked: readonly (readonly [Command, Facts])[],
): readonly Step<State, Command, Event>[] {
  const histories = new Map<string, readonly Event[]>();
  return asked.map(([command, facts]) => {
    const streamId = aggregate.streamOf(command);
    const before = histories.get(streamId) ?? [];
    const decision = aggregate.decide(fold(aggregate, before), command, facts);
    const history = decision.kind === 'accepted' ? [...before, ...decision.events] : before;
    histories.set(streamId, history);
    const after = fold(aggregate, history);
    const repeated = aggregate.decide(after, command, facts);
    return { command, streamId, decision, history, after, repeated };
  });
}

/** The last step of each stream. */
export function ends<State, Command, Event>(
  taken: readonly Step<State, Command, Event>[],
): readonly Step<State, Command, Event>[] {
  return [...new Map(taken.map((step) => [step.streamId, step])).values()];
}
