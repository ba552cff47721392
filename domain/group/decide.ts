import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { newNameProblem } from '#domain/kernel/names.ts';
import { pickChanges } from '#domain/kernel/pick-changes.ts';
import type { GroupCommand, GroupLook } from './commands.ts';
import type { GroupEvent } from './events.ts';
import { defaultGroupId } from './seed.ts';
import { evolveGroup, initialGroup, type GroupState } from './state.ts';

export interface GroupFacts {
  /** Whether any script belongs to the group. */
  readonly inUse: boolean;
  /** Whether another group has the same name, ignoring case. */
  readonly nameTaken: boolean;
}

export function decideGroup(
  state: GroupState,
  command: GroupCommand,
  facts: GroupFacts,
): Decision<GroupEvent> {
  const { groupId } = command;
  if (command.type === 'CreateGroup') {
    if (state.status !== 'absent') return accept();
    const unusable = newNameProblem('name', command.name);
    if (unusable !== undefined) return refuse('validation_failed', unusable);
    if (facts.nameTaken) return nameTaken;
    const { type: _, ...data } = command;
    return accept({ type: 'GroupCreated', data });
  }
  if (command.type === 'DeleteGroup' && state.status === 'deleted') return accept();
  if (state.status !== 'present') return refuse('not_found', 'Group not found.');
  switch (command.type) {
    case 'ChangeGroup': {
      const changes = pickChanges<GroupLook>(state.look, command.changes);
      if (Object.keys(changes).length === 0) return accept();
      const unusable = newNameProblem('name', changes.name);
      if (unusable !== undefined) return refuse('validation_failed', unusable);
      if (changes.name !== undefined && facts.nameTaken) return nameTaken;
      return accept({ type: 'GroupChanged', data: { groupId, ...changes } });
    }
    case 'DeleteGroup':
      if (groupId === defaultGroupId) {
        return refuse(
          'group_in_use',
          'This is the default group for new scripts and cannot be deleted.',
        );
      }
      if (facts.inUse) {
        return refuse(
          'group_in_use',
          'The group still contains scripts, possibly deleted ones. Move or purge the scripts first.',
        );
      }
      return accept({ type: 'GroupDeleted', data: { groupId } });
  }
}

const nameTaken = refuse('already_exists', 'Another group already has this name.');

/** A lock that commands hold while they assign a group name. Its stream contains no events. */
const names = 'group-names';

function nameIn(command: GroupCommand): string | undefined {
  switch (command.type) {
    case 'CreateGroup':
      return command.name;
    case 'ChangeGroup':
      return command.changes.name;
    case 'DeleteGroup':
      return undefined;
  }
}

const guardsOf = (command: GroupCommand) =>
  nameIn(command) === undefined ? [] : ([names] as const);

export const groupAggregate: Aggregate<GroupState, GroupCommand, GroupEvent, GroupFacts> = {
  streamType: 'group',
  commands: { CreateGroup: true, ChangeGroup: true, DeleteGroup: true },
  events: { GroupCreated: true, GroupChanged: true, GroupDeleted: true },
  initial: initialGroup,
  evolve: evolveGroup,
  stateVersion: 2,
  decide: decideGroup,
  // A command that moves a script into a group locks the group's stream. No script can therefore be added while the
  // group is being deleted.
  streamOf: (command) => `group-${command.groupId}`,
  guards: guardsOf,
  exclusiveGuards: guardsOf,
  readFacts: async (command, reads) => {
    const name = nameIn(command);
    return {
      inUse: command.type === 'DeleteGroup' && (await reads.groupInUse(command.groupId)),
      nameTaken: name !== undefined && (await reads.nameTaken('group', name, command.groupId)),
    };
  },
};
