/** Events of a user account, in streams `user-<id>`. Permanent: never rename a type or change the meaning of a
 *  field. The password hash is stored separately, and events contain only its ID. */
import type { Role } from '#domain/kernel/actor.ts';
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId, IdentityProviderId, SessionId, UserId } from '#domain/kernel/ids.ts';
import type { Sealed } from '#domain/secret/events.ts';

/** The account settings that only an administrator can change. */
export interface UserSettings {
  readonly name: string;
  readonly role: Role;
  readonly groupIds: readonly GroupId[];
  readonly canAudit: boolean;
  /** Whether the account is disabled. A disabled account cannot sign in or use its API tokens, and its sessions end
   *  permanently. */
  readonly disabled: boolean;
}

/** An account at an identity provider. */
export interface Identity {
  readonly identityProviderId: IdentityProviderId;
  /** The issuer that assigned the subject. Stored with the identity because the provider's issuer may change later. */
  readonly issuer: string;
  /** The permanent ID that the issuer assigned to the user (claim `sub`). */
  readonly subject: string;
}

export type UserCreated = DomainEvent<
  'UserCreated',
  Omit<UserSettings, 'disabled'> & {
    readonly userId: UserId;
    /** In lower case. Each email address belongs to only one account. */
    readonly email: string;
    readonly credentialId: string;
    /** The identity with which the user signed in when the account was created. */
    readonly identity?: Identity;
  }
>;

/** Settings were changed. Settings that are absent keep their values. */
export type UserChanged = DomainEvent<
  'UserChanged',
  Partial<UserSettings> & { readonly userId: UserId }
>;

/** The password was changed. The previous password and all earlier sessions became invalid. */
export type UserPasswordChanged = DomainEvent<
  'UserPasswordChanged',
  {
    readonly userId: UserId;
    readonly credentialId: string;
    /** The session in which the user changed the password. This session remains valid. */
    readonly keptSessionId?: SessionId;
  }
>;

/** An identity was linked to the account, so the user can sign in with it. It replaces an earlier identity from the
 *  same provider. */
export type UserIdentityLinked = DomainEvent<
  'UserIdentityLinked',
  Identity & { readonly userId: UserId }
>;

export type UserIdentityUnlinked = DomainEvent<
  'UserIdentityUnlinked',
  { readonly userId: UserId; readonly identityProviderId: IdentityProviderId }
>;

/** A WebAuthn credential. */
export interface Passkey {
  /** The ID of the passkey, unique within the account. */
  readonly passkeyId: string;
  readonly name: string;
  /** The credential ID of the authenticator, in base64url. */
  readonly webauthnId: string;
  /** The public key in COSE format, in base64url. */
  readonly publicKey: string;
  /** The last sign counter of the authenticator. 0 if the authenticator has no counter. */
  readonly counter: number;
  readonly transports: readonly string[];
}

/** The second factor of an account. In addition to the password, each sign-in requires a one-time code or a passkey. */
export interface SecondFactor {
  /** The encrypted key for one-time codes (RFC 6238). Absent if the account has only passkeys. */
  readonly sealed?: Sealed;
  /** Absent if no passkey has ever been added. */
  readonly passkeys?: readonly Passkey[];
  /** SHA-256 hashes of the recovery codes, in hex. */
  readonly recoveryHashes: readonly string[];
}

/** One-time codes were enabled as a second factor. */
export type SecondFactorEnabled = DomainEvent<
  'SecondFactorEnabled',
  {
    readonly userId: UserId;
    readonly sealed: Sealed;
    /** SHA-256 hashes of the recovery codes. Empty if the account already has recovery codes. */
    readonly recoveryHashes: readonly string[];
  }
>;

/** The second factor was disabled. The one-time codes, the recovery codes and all passkeys became invalid. */
export type SecondFactorDisabled = DomainEvent<'SecondFactorDisabled', { readonly userId: UserId }>;

/** New recovery codes were issued, and the previous codes became invalid. */
export type RecoveryCodesReplaced = DomainEvent<
  'RecoveryCodesReplaced',
  { readonly userId: UserId; readonly recoveryHashes: readonly string[] }
>;

/** A recovery code was used to sign in and became invalid. */
export type RecoveryCodeUsed = DomainEvent<
  'RecoveryCodeUsed',
  { readonly userId: UserId; readonly recoveryHash: string }
>;

/** A passkey was added as a second factor. */
export type PasskeyAdded = DomainEvent<
  'PasskeyAdded',
  Passkey & {
    readonly userId: UserId;
    /** SHA-256 hashes of the recovery codes. Empty if the account already has recovery codes. */
    readonly recoveryHashes: readonly string[];
  }
>;

/** A passkey was removed. If there is neither another passkey nor a key for one-time codes, the account no longer
 *  has a second factor. */
export type PasskeyRemoved = DomainEvent<
  'PasskeyRemoved',
  { readonly userId: UserId; readonly passkeyId: string }
>;

export type PasskeyRenamed = DomainEvent<
  'PasskeyRenamed',
  { readonly userId: UserId; readonly passkeyId: string; readonly name: string }
>;

/** The user signed in with a passkey. */
export type PasskeyUsed = DomainEvent<
  'PasskeyUsed',
  { readonly userId: UserId; readonly passkeyId: string; readonly counter: number }
>;

/** A passkey was refused because its sign counter did not increase. The passkey may have been copied. */
export type PasskeyUseRefused = DomainEvent<
  'PasskeyUseRefused',
  { readonly userId: UserId; readonly passkeyId: string; readonly counter: number }
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
  | RecoveryCodeUsed
  | PasskeyAdded
  | PasskeyRemoved
  | PasskeyRenamed
  | PasskeyUsed
  | PasskeyUseRefused;
