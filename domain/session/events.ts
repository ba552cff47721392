/** Events of a session, in streams `session-<id>`. Permanent: never rename a type or change the meaning of a
 *  field. Refresh tokens are rotated outside the events (docs/adr/0018). */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { IdentityProviderId, SessionId, UserId } from '#domain/kernel/ids.ts';

/** The sign-in at an identity provider that opened a session. */
export interface SessionIdentity {
  readonly identityProviderId: IdentityProviderId;
  readonly issuer: string;
  /** The issuer's permanent ID of the user (claim `sub`). */
  readonly subject: string;
  /** The provider's ID of its own session (claim `sid`); null if it sent none. */
  readonly providerSessionId: string | null;
}

export type SessionOpened = DomainEvent<
  'SessionOpened',
  {
    readonly sessionId: SessionId;
    readonly userId: UserId;
    /** Version of the account at sign-in. When the account ends its sessions, every session with an older version
     *  ends permanently. Absent in old events. The sessions of those events are no longer valid. */
    readonly accountVersion?: number;
    /** The client's user agent; null if it sent none. Absent in old events. */
    readonly userAgent?: string | null;
    /** Hash of the first refresh token, in old events. */
    readonly refreshHash?: string;
    /** Absent if the user signed in with a password. */
    readonly identity?: SessionIdentity;
  }
>;

/** A refresh token was rotated; recorded by old versions only. */
export type SessionRefreshed = DomainEvent<
  'SessionRefreshed',
  {
    readonly sessionId: SessionId;
    readonly refreshHash: string;
    readonly previousUntil?: string;
  }
>;

/** `provider_logout`: the identity provider ended its session (back-channel logout). */
export type SessionEnd = 'logout' | 'refresh_reused' | 'revoked' | 'provider_logout';

export type SessionClosed = DomainEvent<
  'SessionClosed',
  { readonly sessionId: SessionId; readonly reason: SessionEnd }
>;

export type SessionEvent = SessionOpened | SessionRefreshed | SessionClosed;
