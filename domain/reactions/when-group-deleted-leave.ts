import type { Reaction } from './reaction.ts';

/** Removes the members from a deleted group. */
export const whenGroupDeletedLeave: Reaction = {
  name: 'when-group-deleted-leave',
  handles: ['GroupDeleted'],
  react: async (event, reads) => {
    if (event.type !== 'GroupDeleted') return [];
    const { groupId } = event.data;
    const members = await reads.membersOf(groupId);
    return members.map((userId) => ({ type: 'LeaveGroup', userId, groupId }));
  },
};
