import type { SessionEvent } from './events.ts';

export type SessionState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'open';
      readonly refreshHash: string;
      /** The token before, and until when it may be presented once more. */
      readonly previous: { readonly hash: string; readonly until: string } | null;
    }
  | { readonly status: 'closed' };

export const initialSession: SessionState = { status: 'absent' };

export function evolveSession(state: SessionState, event: SessionEvent): SessionState {
  switch (event.type) {
    case 'SessionOpened':
      return { status: 'open', refreshHash: event.data.refreshHash, previous: null };
    case 'SessionRefreshed': {
      const { refreshHash, previousUntil: until } = event.data;
      const previous =
        state.status === 'open' && until !== undefined ? { hash: state.refreshHash, until } : null;
      return { status: 'open', refreshHash, previous };
    }
    case 'SessionClosed':
      return { status: 'closed' };
  }
}
