import type { UserEvent, UserSettings } from './events.ts';

export type UserState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'there';
      readonly settings: UserSettings;
      readonly credentialId: string;
    };

export const initialUser: UserState = { status: 'absent' };

export function evolveUser(state: UserState, event: UserEvent): UserState {
  if (event.type === 'UserCreated') {
    const { name, role, groupIds, canAudit, credentialId } = event.data;
    const settings = { name, role, groupIds, canAudit, disabled: false };
    return { status: 'there', settings, credentialId };
  }
  if (state.status === 'absent') return state;
  switch (event.type) {
    case 'UserChanged': {
      const { userId: _, ...changes } = event.data;
      return { ...state, settings: { ...state.settings, ...changes } };
    }
    case 'UserPasswordChanged':
      return { ...state, credentialId: event.data.credentialId };
  }
}
