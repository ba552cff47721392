import type { UserId } from '#domain/kernel/ids.ts';
import type { UserCreated, UserPasswordChanged, UserSettings } from './events.ts';

export type CreateUser = UserCreated['data'] & { readonly type: 'CreateUser' };

export interface ChangeUser {
  readonly type: 'ChangeUser';
  readonly userId: UserId;
  /** Settings that are absent stay as they are. */
  readonly changes: Partial<UserSettings>;
}

export type ChangeUserPassword = UserPasswordChanged['data'] & {
  readonly type: 'ChangeUserPassword';
};

export type UserCommand = CreateUser | ChangeUser | ChangeUserPassword;
