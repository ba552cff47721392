import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { ChangeGroup, GroupCommand, GroupLook } from './commands.ts';
import type { GroupEvent } from './events.ts';
import { defaultGroupId } from './seed.ts';
import { evolveGroup, initialGroup, type GroupState } from './state.ts';

/** Asked where a group is deleted. */
export interface GroupFacts {
  readonly inUse: boolean;
}

export function decideGroup(
  state: GroupState,
  command: GroupCommand,
  facts: GroupFacts | undefined,
): Decision<GroupEvent> {
  const { groupId } = command;
  if (command.type === 'CreateGroup') {
    if (state.status !== 'absent') return accept();
    const { type: _, ...data } = command;
    return accept({ type: 'GroupCreated', data });
  }
  if (command.type === 'DeleteGroup' && state.status === 'deleted') return accept();
  if (state.status !== 'present') return refuse('not_found', 'There is no such group.');
  switch (command.type) {
    case 'ChangeGroup': {
      const changes = differing(state.look, command);
      if (Object.keys(changes).length === 0) return accept();
      return accept({ type: 'GroupChanged', data: { groupId, ...changes } });
    }
    case 'DeleteGroup':
      if (groupId === defaultGroupId) {
        return refuse('group_in_use', 'Scripts go to this group when their author names none.');
      }
      if (facts?.inUse !== false) {
        return refuse('group_in_use', 'Scripts belong to it, perhaps deleted ones.');
      }
      return accept({ type: 'GroupDeleted', data: { groupId } });
  }
}

function differing(look: GroupLook, { changes }: ChangeGroup): Partial<GroupLook> {
  const names = Object.keys(changes) as (keyof GroupLook)[];
  return Object.fromEntries(
    names.filter((name) => changes[name] !== look[name]).map((name) => [name, changes[name]]),
  );
}

export const groupAggregate: Aggregate<
  GroupState,
  GroupCommand,
  GroupEvent,
  GroupFacts | undefined
> = {
  streamType: 'group',
  initial: initialGroup,
  evolve: evolveGroup,
  stateVersion: 2,
  decide: decideGroup,
  // Scripts that come to a group lock its stream, so that none comes while it goes.
  streamOf: (command) => `group-${command.groupId}`,
  guards: () => [],
  gather: async (command, world) =>
    command.type === 'DeleteGroup' ? { inUse: await world.groupInUse(command.groupId) } : undefined,
};
