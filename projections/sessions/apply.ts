import type { Recorded } from '#domain/aggregates.ts';
import type { SessionEvent } from '#domain/session/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { sessionColumns, type SessionsTable } from './table.ts';

/** Sign-ins: whether a token still counts is asked of these rows. */
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
        refresh_hash: event.data.refreshHash,
        opened_at: event.recordedAt,
        refreshed_at: event.recordedAt,
        closed_at: null,
      };
    }
    if (row === undefined) return undefined;
    switch (event.type) {
      case 'SessionRefreshed':
        return { ...row, refresh_hash: event.data.refreshHash, refreshed_at: event.recordedAt };
      case 'SessionClosed':
        return { ...row, closed_at: event.recordedAt };
    }
  },
});
