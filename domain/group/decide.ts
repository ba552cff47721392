import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, type Decision } from '#domain/kernel/decision.ts';
import type { GroupCommand } from './commands.ts';
import type { GroupEvent } from './events.ts';
import { evolveGroup, initialGroup, type GroupState } from './state.ts';

export function decideGroup(state: GroupState, command: GroupCommand): Decision<GroupEvent> {
  switch (command.type) {
    case 'CreateGroup': {
      if (state.status !== 'absent') return accept();
      const { type: _, ...data } = command;
      return accept({ type: 'GroupCreated', data });
    }
  }
}

export const groupAggregate: Aggregate<GroupState, GroupCommand, GroupEvent> = {
  streamType: 'group',
  initial: initialGroup,
  evolve: evolveGroup,
  stateVersion: 1,
  decide: decideGroup,
  streamOf: (command) => `group-${command.groupId}`,
  guards: () => [],
  gather: () => Promise.resolve(undefined),
};
