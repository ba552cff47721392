import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, type Decision } from '#domain/kernel/decision.ts';
import type { SessionCommand } from './commands.ts';
import type { SessionEvent } from './events.ts';
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
    case 'CloseSession': {
      if (state.status !== 'open') return accept();
      const { type: _, ...data } = command;
      return accept({ type: 'SessionClosed', data });
    }
  }
}

export const sessionAggregate: Aggregate<SessionState, SessionCommand, SessionEvent> = {
  streamType: 'session',
  commands: { OpenSession: true, CloseSession: true },
  events: { SessionOpened: true, SessionRefreshed: true, SessionClosed: true },
  initial: initialSession,
  evolve: evolveSession,
  stateVersion: 3,
  decide: decideSession,
  streamOf: (command) => `session-${command.sessionId}`,
  guards: () => [],
  readFacts: () => Promise.resolve(undefined),
};
