import type { GroupEvent } from './events.ts';

export type GroupState = { readonly status: 'absent' } | { readonly status: 'present' };

export const initialGroup: GroupState = { status: 'absent' };

export function evolveGroup(_state: GroupState, event: GroupEvent): GroupState {
  switch (event.type) {
    case 'GroupCreated':
      return { status: 'present' };
  }
}
