/** Events of a session, in streams `session-<id>`. Permanent: never rename a type or change the meaning of a
 *  field. Refresh tokens are rotated outside the events (docs/adr/0018). */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { SessionId, UserId } from '#domain/kernel/ids.ts';

export type SessionOpened = DomainEvent<
  'SessionOpened',
  {
    readonly sessionId: SessionId;
    readonly userId: UserId;
    /** Version of the account at sign-in. When the account ends its sessions, every session with an older version
     *  ends permanently. Absent in old events, whose sessions are no longer valid. */
    readonly accountVersion?: number;
    /** The client's user agent; null if it sent none. Absent in old events. */
    readonly userAgent?: string | null;
    /** Hash of the first refresh token, in old events. */
    readonly refreshHash?: string;
  }
>;

/** A refresh token was rotated; recorded by old programs only. */
export type SessionRefreshed = DomainEvent<
  'SessionRefreshed',
  {
    readonly sessionId: SessionId;
    readonly refreshHash: string;
    readonly previousUntil?: string;
  }
>;

export type SessionClosed = DomainEvent<
  'SessionClosed',
  { readonly sessionId: SessionId; readonly reason: 'logout' | 'refresh_reused' | 'revoked' }
>;

export type SessionEvent = SessionOpened | SessionRefreshed | SessionClosed;
