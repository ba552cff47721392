import type { Recorded } from '#domain/aggregates.ts';
import type { SessionEvent } from '#domain/session/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { sessionColumns, type SessionsTable } from './table.ts';

/** Builds the sessions. Every request checks against these rows whether its session is valid. */
export const sessionsProjection: Projection = rowProjection<SessionsTable, Recorded<SessionEvent>>({
  name: 'sessions',
  version: 1,
  table: 'sessions',
  key: 'session_id',
  columns: sessionColumns,
  handles: ['SessionOpened', 'SessionRefreshed', 'SessionClosed'],
  keyOf: (event) => event.data.sessionId,
  step: (row, event) => {
    if (event.type === 'SessionOpened') {
      return {
        session_id: event.data.sessionId,
        user_id: event.data.userId,
        account_version: event.data.accountVersion ?? null,
        opened_at: event.recordedAt,
        ip: event.metadata.ip,
        user_agent: event.data.userAgent ?? null,
        closed_at: null,
        identity: event.data.identity ?? null,
      };
    }
    if (row === undefined) return undefined;
    switch (event.type) {
      case 'SessionRefreshed':
        return row;
      case 'SessionClosed':
        return { ...row, closed_at: event.recordedAt };
    }
  },
});
