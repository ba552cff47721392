import type { Recorded } from '#domain/aggregates.ts';
import type { SessionEvent, SessionRefreshed } from '#domain/session/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { sessionColumns, type SessionsTable } from './table.ts';

type Opened = Recorded<Exclude<SessionEvent, SessionRefreshed>>;

/** Sign-ins: whether a token still counts is asked of these rows. */
export const sessionsProjection: Projection = rowProjection<SessionsTable, Opened>({
  name: 'sessions',
  version: 1,
  table: 'sessions',
  key: 'session_id',
  columns: sessionColumns,
  handles: ['SessionOpened', 'SessionClosed'],
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
      };
    }
    return row && { ...row, closed_at: event.recordedAt };
  },
});
