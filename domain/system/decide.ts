import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, type Decision } from '#domain/kernel/decision.ts';
import type { SystemCommand } from './commands.ts';
import type { SystemEvent } from './events.ts';
import { evolveSystem, initialSystem, type SystemState } from './state.ts';

export function decideSystem(state: SystemState, command: SystemCommand): Decision<SystemEvent> {
  switch (command.type) {
    case 'PauseTriggers':
      return state.paused ? accept() : accept({ type: 'TriggersPaused', data: {} });
    case 'ResumeTriggers':
      return state.paused ? accept({ type: 'TriggersResumed', data: {} }) : accept();
  }
}

export const systemAggregate: Aggregate<SystemState, SystemCommand, SystemEvent> = {
  streamType: 'system',
  initial: initialSystem,
  evolve: evolveSystem,
  decide: decideSystem,
  streamOf: () => 'system-triggers',
  guards: () => [],
  gather: () => Promise.resolve(undefined),
};
