/** Events of a session, in streams `session-<id>`. Permanent: never rename a type or change the meaning of a field.
 *  The rotation of refresh tokens is not recorded as events (docs/adr/0018). */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { IdentityProviderId, SessionId, UserId } from '#domain/kernel/ids.ts';

/** The identity and the provider's session with which the user signed in. */
export interface SessionIdentity {
  readonly identityProviderId: IdentityProviderId;
  readonly issuer: string;
  /** The permanent ID that the issuer assigned to the user (claim `sub`). */
  readonly subject: string;
  /** The ID that the provider assigned to its own session (claim `sid`). Null if the provider sent none. */
  readonly providerSessionId: string | null;
}

export type SessionOpened = DomainEvent<
  'SessionOpened',
  {
    readonly sessionId: SessionId;
    readonly userId: UserId;
    /** The version of the account at which its sessions were last ended before this sign-in. When the sessions are
     *  ended again, this version is outdated and the session ends permanently. Absent in old events, whose sessions
     *  are no longer valid. */
    readonly accountVersion?: number;
    /** The client's user agent. Null if the client sent none. Absent in old events. */
    readonly userAgent?: string | null;
    /** Hash of the first refresh token. Set only in old events. */
    readonly refreshHash?: string;
    /** The identity with which the user signed in. Absent if the user signed in with a password. */
    readonly identity?: SessionIdentity;
  }
>;

/** A refresh token was rotated. Recorded only by old releases. */
export type SessionRefreshed = DomainEvent<
  'SessionRefreshed',
  {
    readonly sessionId: SessionId;
    readonly refreshHash: string;
    readonly previousUntil?: string;
  }
>;

/** `provider_logout` means that the identity provider ended its own session (back-channel logout). */
export type SessionEnd = 'logout' | 'refresh_reused' | 'revoked' | 'provider_logout';

export type SessionClosed = DomainEvent<
  'SessionClosed',
  { readonly sessionId: SessionId; readonly reason: SessionEnd }
>;

export type SessionEvent = SessionOpened | SessionRefreshed | SessionClosed;
