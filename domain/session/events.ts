/** Facts of a sign-in, in streams `session-<id>`. Stored for good: a type is never renamed and a field
 *  never changes its meaning. Refresh tokens are here as hashes only. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { SessionId, UserId } from '#domain/kernel/ids.ts';

export type SessionOpened = DomainEvent<
  'SessionOpened',
  { readonly sessionId: SessionId; readonly userId: UserId; readonly refreshHash: string }
>;

export type SessionRefreshed = DomainEvent<
  'SessionRefreshed',
  {
    readonly sessionId: SessionId;
    readonly refreshHash: string;
    /** RFC 3339: until then the token before may be presented once more. Absent: not at all. */
    readonly previousUntil?: string;
  }
>;

export type SessionClosed = DomainEvent<
  'SessionClosed',
  { readonly sessionId: SessionId; readonly reason: 'logout' | 'refresh_reused' | 'revoked' }
>;

export type SessionEvent = SessionOpened | SessionRefreshed | SessionClosed;
