import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, type Decision } from '#domain/kernel/decision.ts';
import type { RefusalCommand } from './commands.ts';
import type { RefusalEvent } from './events.ts';
import { evolveRefusal, initialRefusal, type RefusalState } from './state.ts';

export function decideRefusal(
  state: RefusalState,
  command: RefusalCommand,
): Decision<RefusalEvent> {
  switch (command.type) {
    case 'RecordRefusal': {
      if (state.status !== 'absent') return accept();
      const { type: _, ...data } = command;
      return accept({ type: 'RequestRefused', data });
    }
  }
}

export const refusalAggregate: Aggregate<RefusalState, RefusalCommand, RefusalEvent> = {
  streamType: 'refusal',
  commands: { RecordRefusal: true },
  events: { RequestRefused: true },
  initial: initialRefusal,
  evolve: evolveRefusal,
  stateVersion: 1,
  decide: decideRefusal,
  streamOf: (command) => `refusal-${command.refusalId}`,
  guards: () => [],
  readFacts: () => Promise.resolve(undefined),
};
