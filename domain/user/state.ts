import type { UserEvent } from './events.ts';

export type UserState = { readonly status: 'absent' } | { readonly status: 'active' };

export const initialUser: UserState = { status: 'absent' };

export function evolveUser(_state: UserState, event: UserEvent): UserState {
  switch (event.type) {
    case 'UserCreated':
      return { status: 'active' };
  }
}
