/** Facts of a person's account, in streams `user-<id>`. Stored for good: a type is never renamed and
 *  a field never changes its meaning. A password's hash is kept apart; only its id is here. */
import type { Role } from '#domain/kernel/actor.ts';
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId, SessionId, UserId } from '#domain/kernel/ids.ts';

/** What an administrator decides of an account. */
export interface UserSettings {
  readonly name: string;
  readonly role: Role;
  readonly groupIds: readonly GroupId[];
  readonly canAudit: boolean;
  /** Nobody gets in by it: neither with its password nor with its tokens. Sessions end for good. */
  readonly disabled: boolean;
}

export type UserCreated = DomainEvent<
  'UserCreated',
  Omit<UserSettings, 'disabled'> & {
    readonly userId: UserId;
    /** Lower case; unique among all accounts. */
    readonly email: string;
    readonly credentialId: string;
  }
>;

/** Settings that are absent stay as they were. */
export type UserChanged = DomainEvent<
  'UserChanged',
  Partial<UserSettings> & { readonly userId: UserId }
>;

/** Another password; the one before counts no longer, nor do sessions that were opened before. */
export type UserPasswordChanged = DomainEvent<
  'UserPasswordChanged',
  {
    readonly userId: UserId;
    readonly credentialId: string;
    /** The one session that goes on: its owner changed the password in it. */
    readonly keptSessionId?: SessionId;
  }
>;

export type UserEvent = UserCreated | UserChanged | UserPasswordChanged;
