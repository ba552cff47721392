import type { GroupId, UserId } from '#domain/kernel/ids.ts';
import type { UserCreated, UserPasswordChanged, UserSettings } from './events.ts';

export type CreateUser = UserCreated['data'] & { readonly type: 'CreateUser' };

export interface ChangeUser {
  readonly type: 'ChangeUser';
  readonly userId: UserId;
  /** Absent settings keep their values. */
  readonly changes: Partial<UserSettings>;
}

export type ChangeUserPassword = UserPasswordChanged['data'] & {
  readonly type: 'ChangeUserPassword';
};

/** The group was deleted. */
export interface LeaveGroup {
  readonly type: 'LeaveGroup';
  readonly userId: UserId;
  readonly groupId: GroupId;
}

export type UserCommand = CreateUser | ChangeUser | ChangeUserPassword | LeaveGroup;
