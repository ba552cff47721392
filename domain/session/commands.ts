import type { SessionId, UserId } from '#domain/kernel/ids.ts';

export interface OpenSession {
  readonly type: 'OpenSession';
  readonly sessionId: SessionId;
  readonly userId: UserId;
  readonly refreshHash: string;
}

/** Trades a refresh token for the next one. */
export interface RefreshSession {
  readonly type: 'RefreshSession';
  readonly sessionId: SessionId;
  readonly presentedHash: string;
  /** The same token has the same successor. */
  readonly nextHash: string;
  /** Now, RFC 3339 in UTC with milliseconds. */
  readonly at: string;
}

export interface CloseSession {
  readonly type: 'CloseSession';
  readonly sessionId: SessionId;
}

/** Ends a session from elsewhere. */
export interface RevokeSession {
  readonly type: 'RevokeSession';
  readonly sessionId: SessionId;
}

export type SessionCommand = OpenSession | RefreshSession | CloseSession | RevokeSession;
