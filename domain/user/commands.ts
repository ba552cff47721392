import type { GroupId, UserId } from '#domain/kernel/ids.ts';
import type {
  PasskeyAdded,
  PasskeyRemoved,
  PasskeyRenamed,
  PasskeyUsed,
  RecoveryCodesReplaced,
  RecoveryCodeUsed,
  SecondFactorDisabled,
  SecondFactorEnabled,
  UserCreated,
  UserIdentityLinked,
  UserIdentityUnlinked,
  UserPasswordChanged,
  UserSettings,
} from './events.ts';

export type CreateUser = UserCreated['data'] & { readonly type: 'CreateUser' };

export interface ChangeUser {
  readonly type: 'ChangeUser';
  readonly userId: UserId;
  /** The settings to change. Settings that are absent keep their values. */
  readonly changes: Partial<UserSettings>;
}

export type ChangeUserPassword = UserPasswordChanged['data'] & {
  readonly type: 'ChangeUserPassword';
};

/** Removes a user from a deleted group. */
export interface LeaveGroup {
  readonly type: 'LeaveGroup';
  readonly userId: UserId;
  readonly groupId: GroupId;
}

export type LinkIdentity = UserIdentityLinked['data'] & { readonly type: 'LinkIdentity' };

export type UnlinkIdentity = UserIdentityUnlinked['data'] & { readonly type: 'UnlinkIdentity' };

export type EnableSecondFactor = SecondFactorEnabled['data'] & {
  readonly type: 'EnableSecondFactor';
};

export type DisableSecondFactor = SecondFactorDisabled['data'] & {
  readonly type: 'DisableSecondFactor';
};

export type ReplaceRecoveryCodes = RecoveryCodesReplaced['data'] & {
  readonly type: 'ReplaceRecoveryCodes';
};

export type UseRecoveryCode = RecoveryCodeUsed['data'] & { readonly type: 'UseRecoveryCode' };

export type AddPasskey = PasskeyAdded['data'] & { readonly type: 'AddPasskey' };

export type RemovePasskey = PasskeyRemoved['data'] & { readonly type: 'RemovePasskey' };

export type RenamePasskey = PasskeyRenamed['data'] & { readonly type: 'RenamePasskey' };

export type UsePasskey = PasskeyUsed['data'] & { readonly type: 'UsePasskey' };

export type UserCommand =
  | CreateUser
  | ChangeUser
  | ChangeUserPassword
  | LeaveGroup
  | LinkIdentity
  | UnlinkIdentity
  | EnableSecondFactor
  | DisableSecondFactor
  | ReplaceRecoveryCodes
  | UseRecoveryCode
  | AddPasskey
  | RemovePasskey
  | RenamePasskey
  | UsePasskey;
