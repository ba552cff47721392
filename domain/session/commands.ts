import type { SessionId, UserId } from '#domain/kernel/ids.ts';
import type { SessionClosed, SessionIdentity } from './events.ts';

export interface OpenSession {
  readonly type: 'OpenSession';
  readonly sessionId: SessionId;
  readonly userId: UserId;
  /** The version of the account at which its sessions were last ended. The session is valid only while this version
   *  is current. */
  readonly accountVersion: number;
  readonly userAgent: string | null;
  /** The identity with which the user signed in. Absent if the user signed in with a password. */
  readonly identity?: SessionIdentity;
}

export type CloseSession = SessionClosed['data'] & { readonly type: 'CloseSession' };

export type SessionCommand = OpenSession | CloseSession;
