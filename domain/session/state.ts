import type { SessionEvent } from './events.ts';

export interface SessionState {
  readonly status: 'absent' | 'open' | 'closed';
}

export const initialSession: SessionState = { status: 'absent' };

export function evolveSession(state: SessionState, event: SessionEvent): SessionState {
  switch (event.type) {
    case 'SessionOpened':
      return { status: 'open' };
    case 'SessionRefreshed':
      return state;
    case 'SessionClosed':
      return { status: 'closed' };
  }
}
