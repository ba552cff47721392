import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { canonicalJson } from '#domain/kernel/json.ts';
import type { ChangeRetention, SystemCommand } from './commands.ts';
import type { SystemEvent } from './events.ts';
import { maxRetentionDays } from './retention.ts';
import { evolveSystem, initialSystem, type SystemState } from './state.ts';

export function decideSystem(state: SystemState, command: SystemCommand): Decision<SystemEvent> {
  switch (command.type) {
    case 'PauseTriggers':
      return state.paused ? accept() : accept({ type: 'TriggersPaused', data: {} });
    case 'ResumeTriggers':
      return state.paused ? accept({ type: 'TriggersResumed', data: {} }) : accept();
    case 'ChangeRetention':
      return changeRetention(state, command);
  }
}

function changeRetention(
  { retention }: SystemState,
  { changes }: ChangeRetention,
): Decision<SystemEvent> {
  const wanted = { ...retention, ...changes };
  const isUsable = (days: number | null) =>
    days === null || (Number.isInteger(days) && days >= 1 && days <= maxRetentionDays);
  if (!Object.values(wanted).every(isUsable)) {
    return refuse('validation_failed', `Days are whole, from 1 to ${maxRetentionDays}.`);
  }
  return canonicalJson(wanted) === canonicalJson(retention)
    ? accept()
    : accept({ type: 'RetentionChanged', data: wanted });
}

export const systemAggregate: Aggregate<SystemState, SystemCommand, SystemEvent> = {
  streamType: 'system',
  initial: initialSystem,
  evolve: evolveSystem,
  stateVersion: 1,
  decide: decideSystem,
  streamOf: (command) =>
    command.type === 'ChangeRetention' ? 'system-retention' : 'system-triggers',
  guards: () => [],
  gather: () => Promise.resolve(undefined),
};
