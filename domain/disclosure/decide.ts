import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, type Decision } from '#domain/kernel/decision.ts';
import type { DisclosureCommand } from './commands.ts';
import type { DisclosureEvent } from './events.ts';
import { evolveDisclosure, initialDisclosure, type DisclosureState } from './state.ts';

export function decideDisclosure(
  state: DisclosureState,
  command: DisclosureCommand,
): Decision<DisclosureEvent> {
  switch (command.type) {
    case 'RecordDisclosure': {
      if (state.status !== 'absent') return accept();
      const { type: _, ...data } = command;
      return accept({ type: 'DataDisclosed', data });
    }
  }
}

export const disclosureAggregate: Aggregate<DisclosureState, DisclosureCommand, DisclosureEvent> = {
  streamType: 'disclosure',
  commands: { RecordDisclosure: true },
  events: { DataDisclosed: true },
  initial: initialDisclosure,
  evolve: evolveDisclosure,
  stateVersion: 1,
  decide: decideDisclosure,
  streamOf: (command) => `disclosure-${command.disclosureId}`,
  guards: () => [],
  readFacts: () => Promise.resolve(undefined),
};
