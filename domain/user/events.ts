/** Events of a user account, in streams `user-<id>`. Permanent: never rename a type or change the meaning of a
 *  field. The password hash is stored separately; events have only its id. */
import type { Role } from '#domain/kernel/actor.ts';
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId, SessionId, UserId } from '#domain/kernel/ids.ts';

/** The account settings that an administrator controls. */
export interface UserSettings {
  readonly name: string;
  readonly role: Role;
  readonly groupIds: readonly GroupId[];
  readonly canAudit: boolean;
  /** The account cannot sign in or use its tokens. Its sessions end permanently. */
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

/** Absent settings keep their values. */
export type UserChanged = DomainEvent<
  'UserChanged',
  Partial<UserSettings> & { readonly userId: UserId }
>;

/** The password changed. The previous password and all earlier sessions become invalid. */
export type UserPasswordChanged = DomainEvent<
  'UserPasswordChanged',
  {
    readonly userId: UserId;
    readonly credentialId: string;
    /** The session that stays valid, because the user changed the password in it. */
    readonly keptSessionId?: SessionId;
  }
>;

export type UserEvent = UserCreated | UserChanged | UserPasswordChanged;
