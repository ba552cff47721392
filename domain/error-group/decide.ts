import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, type Decision } from '#domain/kernel/decision.ts';
import type { ErrorGroupCommand, ReopenErrorGroup } from './commands.ts';
import type { ErrorGroupEvent } from './events.ts';
import { evolveErrorGroup, initialErrorGroup, type ErrorGroupState } from './state.ts';

export function decideErrorGroup(
  state: ErrorGroupState,
  command: ErrorGroupCommand,
): Decision<ErrorGroupEvent> {
  const { errorGroupId } = command;
  switch (command.type) {
    case 'ResolveErrorGroup': {
      const { version, scriptId } = command;
      const isSame = state.status === 'resolved' && state.version === version;
      if (isSame && state.scriptId === scriptId) return accept();
      const fix = { version, ...(scriptId !== undefined && { scriptId }) };
      return accept({ type: 'ErrorGroupResolved', data: { errorGroupId, ...fix } });
    }
    case 'IgnoreErrorGroup': {
      const { until } = command;
      if (state.status === 'ignored' && state.until === until) return accept();
      return accept({ type: 'ErrorGroupIgnored', data: { errorGroupId, until } });
    }
    case 'ReopenErrorGroup': {
      if (state.status === 'open' || isKnown(state, command)) return accept();
      const { runId } = command;
      return accept({ type: 'ErrorGroupReopened', data: { errorGroupId, runId } });
    }
  }
}

/** Whether the recurrence was expected. This is the case if the group is ignored, or if the run used an older script
 *  version than the fix. */
function isKnown(state: ErrorGroupState, { runId, scriptId, version }: ReopenErrorGroup): boolean {
  if (runId === null || state.status === 'open') return false;
  if (state.status === 'ignored') return true;
  // Versions are comparable only within one script.
  const isOfFixed = state.scriptId === undefined || state.scriptId === scriptId;
  return isOfFixed && state.version !== null && version !== null && version < state.version;
}

export const errorGroupAggregate: Aggregate<ErrorGroupState, ErrorGroupCommand, ErrorGroupEvent> = {
  streamType: 'error_group',
  commands: { ResolveErrorGroup: true, IgnoreErrorGroup: true, ReopenErrorGroup: true },
  events: { ErrorGroupResolved: true, ErrorGroupIgnored: true, ErrorGroupReopened: true },
  initial: initialErrorGroup,
  evolve: evolveErrorGroup,
  stateVersion: 2,
  decide: decideErrorGroup,
  streamOf: (command) => `error_group-${command.errorGroupId}`,
  guards: () => [],
  readFacts: () => Promise.resolve(undefined),
};
