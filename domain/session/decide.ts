import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { RefreshSession, SessionCommand } from './commands.ts';
import type { SessionClosed, SessionEvent } from './events.ts';
import { evolveSession, initialSession, type SessionState } from './state.ts';

export function decideSession(
  state: SessionState,
  command: SessionCommand,
): Decision<SessionEvent> {
  switch (command.type) {
    case 'OpenSession': {
      if (state.status !== 'absent') return accept();
      const { type: _, ...data } = command;
      return accept({ type: 'SessionOpened', data });
    }
    case 'RefreshSession':
      return refresh(state, command);
    case 'CloseSession':
      return state.status === 'open' ? accept(closed(command, 'logout')) : accept();
    case 'RevokeSession':
      return state.status === 'open' ? accept(closed(command, 'revoked')) : accept();
  }
}

// A token that was traded before is in foreign hands, or its owner's answer was lost: either way the
// whole family ends (RFC 9700 §4.14.2).
function refresh(state: SessionState, command: RefreshSession): Decision<SessionEvent> {
  if (state.status !== 'open') return refuse('session_closed', 'The session has ended.');
  if (state.refreshHash !== command.presentedHash) return accept(closed(command, 'refresh_reused'));
  const { sessionId, nextHash } = command;
  return accept({ type: 'SessionRefreshed', data: { sessionId, refreshHash: nextHash } });
}

function closed(command: SessionCommand, reason: SessionClosed['data']['reason']): SessionEvent {
  return { type: 'SessionClosed', data: { sessionId: command.sessionId, reason } };
}

export const sessionAggregate: Aggregate<SessionState, SessionCommand, SessionEvent> = {
  streamType: 'session',
  initial: initialSession,
  evolve: evolveSession,
  stateVersion: 1,
  decide: decideSession,
  streamOf: (command) => `session-${command.sessionId}`,
  guards: () => [],
  gather: () => Promise.resolve(undefined),
};
