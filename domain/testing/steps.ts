/** Executes commands in order. Each command is decided on the state after the previous commands. */
import type { Aggregate } from '#domain/kernel/aggregate.ts';
import type { Decision } from '#domain/kernel/decision.ts';
import type { DomainEvent } from '#domain/kernel/event.ts';
import { fold } from './given.ts';

export interface Step<State, Command, Event> {
  readonly command: Command;
  readonly streamId: string;
  readonly decision: Decision<Event>;
  /** The events and the state of the stream after the command. */
  readonly history: readonly Event[];
  readonly after: State;
  /** The decision on the same command when it is repeated. */
  readonly repeated: Decision<Event>;
}

/** Executes commands with the facts that they require. */
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

/** Returns the last step of each stream. */
export function ends<State, Command, Event>(
  taken: readonly Step<State, Command, Event>[],
): readonly Step<State, Command, Event>[] {
  return [...new Map(taken.map((step) => [step.streamId, step])).values()];
}
