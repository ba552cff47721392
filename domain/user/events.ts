/** Events of a user account, in streams `user-<id>`. Permanent: never rename a type or change the meaning of a
 *  field. The password hash is stored separately; events have only its id. */
import type { Role } from '#domain/kernel/actor.ts';
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId, IdentityProviderId, SessionId, UserId } from '#domain/kernel/ids.ts';
import type { Sealed } from '#domain/secret/events.ts';

/** The account settings that an administrator controls. */
export interface UserSettings {
  readonly name: string;
  readonly role: Role;
  readonly groupIds: readonly GroupId[];
  readonly canAudit: boolean;
  /** The account cannot sign in or use its tokens. Its sessions end permanently. */
  readonly disabled: boolean;
}

/** An account at an identity provider. */
export interface Identity {
  readonly identityProviderId: IdentityProviderId;
  /** The issuer that assigned the subject: a provider's settings may change. */
  readonly issuer: string;
  /** The issuer's permanent id of the user (claim `sub`). */
  readonly subject: string;
}

export type UserCreated = DomainEvent<
  'UserCreated',
  Omit<UserSettings, 'disabled'> & {
    readonly userId: UserId;
    /** Lower case; unique among all accounts. */
    readonly email: string;
    readonly credentialId: string;
    /** The identity whose first sign-in created the account. */
    readonly identity?: Identity;
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

/** The identity can sign in to the account. Replaces an earlier identity of the same provider. */
export type UserIdentityLinked = DomainEvent<
  'UserIdentityLinked',
  Identity & { readonly userId: UserId }
>;

export type UserIdentityUnlinked = DomainEvent<
  'UserIdentityUnlinked',
  { readonly userId: UserId; readonly identityProviderId: IdentityProviderId }
>;

/** What a sign-in to the account requires in addition to the password. */
export interface SecondFactor {
  /** The key of the one-time codes (RFC 6238), under a data key of the account. */
  readonly sealed: Sealed;
  /** SHA-256 of the recovery codes in hexadecimal. */
  readonly recoveryHashes: readonly string[];
}

export type SecondFactorEnabled = DomainEvent<
  'SecondFactorEnabled',
  SecondFactor & { readonly userId: UserId }
>;

export type SecondFactorDisabled = DomainEvent<'SecondFactorDisabled', { readonly userId: UserId }>;

/** The previous recovery codes become invalid. */
export type RecoveryCodesReplaced = DomainEvent<
  'RecoveryCodesReplaced',
  { readonly userId: UserId; readonly recoveryHashes: readonly string[] }
>;

/** A sign-in used a recovery code, which becomes invalid. */
export type RecoveryCodeUsed = DomainEvent<
  'RecoveryCodeUsed',
  { readonly userId: UserId; readonly recoveryHash: string }
>;

export type UserEvent =
  | UserCreated
  | UserChanged
  | UserPasswordChanged
  | UserIdentityLinked
  | UserIdentityUnlinked
  | SecondFactorEnabled
  | SecondFactorDisabled
  | RecoveryCodesReplaced
  | RecoveryCodeUsed;
