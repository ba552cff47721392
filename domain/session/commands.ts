import type { SessionId, UserId } from '#domain/kernel/ids.ts';
import type { SessionClosed } from './events.ts';

export interface OpenSession {
  readonly type: 'OpenSession';
  readonly sessionId: SessionId;
  readonly userId: UserId;
  /** Of the account whose password was right. */
  readonly accountVersion: number;
  readonly userAgent: string | null;
}

export type CloseSession = SessionClosed['data'] & { readonly type: 'CloseSession' };

export type SessionCommand = OpenSession | CloseSession;
