/** Events of an identity provider, in streams `identity_provider-<id>`. Permanent: never rename a type or change the
 *  meaning of a field. The client secret is stored as ciphertext only. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { IdentityProviderId } from '#domain/kernel/ids.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type { IdentityProviderSettings } from './provider.ts';

export type IdentityProviderCreated = DomainEvent<
  'IdentityProviderCreated',
  IdentityProviderSettings & {
    /** Derived from `slug`, so that a slug belongs to one provider. */
    readonly identityProviderId: IdentityProviderId;
    /** Part of the redirect URI. Never changes. */
    readonly slug: string;
    /** Null: a public client, which has no secret and uses only PKCE. */
    readonly sealed: Sealed | null;
  }
>;

/** Absent settings keep their values. */
export type IdentityProviderChanged = DomainEvent<
  'IdentityProviderChanged',
  Partial<IdentityProviderSettings> & {
    readonly identityProviderId: IdentityProviderId;
    readonly sealed?: Sealed | null;
  }
>;

export type IdentityProviderDeleted = DomainEvent<
  'IdentityProviderDeleted',
  { readonly identityProviderId: IdentityProviderId }
>;

export type IdentityProviderEvent =
  | IdentityProviderCreated
  | IdentityProviderChanged
  | IdentityProviderDeleted;
