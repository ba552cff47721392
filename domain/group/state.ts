import type { GroupLook } from './commands.ts';
import type { GroupEvent } from './events.ts';

export type GroupState =
  | { readonly status: 'absent' }
  | { readonly status: 'present'; readonly look: GroupLook }
  | { readonly status: 'deleted' };

export const initialGroup: GroupState = { status: 'absent' };

export function evolveGroup(state: GroupState, event: GroupEvent): GroupState {
  switch (event.type) {
    case 'GroupCreated': {
      const { groupId: _, ...look } = event.data;
      return { status: 'present', look };
    }
    case 'GroupChanged': {
      if (state.status !== 'present') return state;
      const { groupId: _, ...changes } = event.data;
      return { ...state, look: { ...state.look, ...changes } };
    }
    case 'GroupDeleted':
      return { status: 'deleted' };
  }
}
