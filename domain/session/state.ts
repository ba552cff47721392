import type { SessionEvent } from './events.ts';

export type SessionState =
  | { readonly status: 'absent' }
  | { readonly status: 'open'; readonly refreshHash: string }
  | { readonly status: 'closed' };

export const initialSession: SessionState = { status: 'absent' };

export function evolveSession(_state: SessionState, event: SessionEvent): SessionState {
  switch (event.type) {
    case 'SessionOpened':
    case 'SessionRefreshed':
      return { status: 'open', refreshHash: event.data.refreshHash };
    case 'SessionClosed':
      return { status: 'closed' };
  }
}
