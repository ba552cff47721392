/** Facts of a sign-in, in streams `session-<id>`. Stored for good: a type is never renamed and a field
 *  never changes its meaning. Refresh tokens are traded beside the events (docs/adr/0018). */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { SessionId, UserId } from '#domain/kernel/ids.ts';

export type SessionOpened = DomainEvent<
  'SessionOpened',
  {
    readonly sessionId: SessionId;
    readonly userId: UserId;
    /** Of the account as it let them in: once the account ends what was opened before, the session is among
     *  that for good. Absent in old events, whose sessions count no longer. */
    readonly accountVersion?: number;
    /** What the client said that it is; null: nothing. Absent in old events. */
    readonly userAgent?: string | null;
    /** Of the first refresh token, in old events. */
    readonly refreshHash?: string;
  }
>;

/** A refresh token was traded; recorded by old programs only. */
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
