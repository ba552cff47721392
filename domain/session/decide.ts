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

/** For how long the token before the last is given the same successor again: a browser that restores two
 *  tabs presents it twice, and an answer may be lost. */
const graceMs = 10_000;

// A token that was traded before is in foreign hands: the whole family ends (RFC 9700 §4.14.2).
function refresh(state: SessionState, command: RefreshSession): Decision<SessionEvent> {
  if (state.status !== 'open') return refuse('session_closed', 'The session has ended.');
  const { sessionId, presentedHash, nextHash, at } = command;
  if (isGrace(state, command)) return accept();
  if (state.refreshHash !== presentedHash) return accept(closed(command, 'refresh_reused'));
  const previousUntil = new Date(Date.parse(at) + graceMs).toISOString();
  const data = { sessionId, refreshHash: nextHash, previousUntil };
  return accept({ type: 'SessionRefreshed', data });
}

function isGrace(
  { refreshHash, previous }: Extract<SessionState, { status: 'open' }>,
  { presentedHash, nextHash, at }: RefreshSession,
): boolean {
  if (previous === null || refreshHash !== nextHash) return false;
  return previous.hash === presentedHash && at < previous.until;
}

function closed(command: SessionCommand, reason: SessionClosed['data']['reason']): SessionEvent {
  return { type: 'SessionClosed', data: { sessionId: command.sessionId, reason } };
}

export const sessionAggregate: Aggregate<SessionState, SessionCommand, SessionEvent> = {
  streamType: 'session',
  initial: initialSession,
  evolve: evolveSession,
  stateVersion: 2,
  decide: decideSession,
  streamOf: (command) => `session-${command.sessionId}`,
  guards: () => [],
  gather: () => Promise.resolve(undefined),
};
