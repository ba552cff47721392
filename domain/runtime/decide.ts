import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, type Decision } from '#domain/kernel/decision.ts';
import type { RuntimeCommand } from './commands.ts';
import type { RuntimeEvent } from './events.ts';
import { evolveRuntime, initialRuntime, type RuntimeState } from './state.ts';

export function decideRuntime(
  { drained }: RuntimeState,
  { type, runtimeId }: RuntimeCommand,
): Decision<RuntimeEvent> {
  switch (type) {
    case 'DrainRuntime':
      return drained ? accept() : accept({ type: 'RuntimeDrained', data: { runtimeId } });
    case 'ResumeRuntime':
      return drained ? accept({ type: 'RuntimeResumed', data: { runtimeId } }) : accept();
  }
}

export const runtimeAggregate: Aggregate<RuntimeState, RuntimeCommand, RuntimeEvent> = {
  streamType: 'runtime',
  commands: { DrainRuntime: true, ResumeRuntime: true },
  events: { RuntimeDrained: true, RuntimeResumed: true },
  initial: initialRuntime,
  evolve: evolveRuntime,
  stateVersion: 1,
  decide: decideRuntime,
  streamOf: (command) => `runtime-${command.runtimeId}`,
  guards: () => [],
  readFacts: () => Promise.resolve(undefined),
};
