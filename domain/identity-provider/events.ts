/** Events of an identity provider, in streams `identity_provider-<id>`. Permanent: never rename a type or change the
 *  meaning of a field. The client secret is stored only as ciphertext. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { IdentityProviderId } from '#domain/kernel/ids.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type { IdentityProviderSettings } from './provider.ts';

export type IdentityProviderCreated = DomainEvent<
  'IdentityProviderCreated',
  IdentityProviderSettings & {
    /** Derived from `slug`, so that two providers cannot have the same slug. */
    readonly identityProviderId: IdentityProviderId;
    /** Part of the redirect URI. The slug never changes. */
    readonly slug: string;
    /** The encrypted client secret. Null for a public client, which uses only PKCE. */
    readonly sealed: Sealed | null;
  }
>;

/** Settings were changed. Settings that are absent keep their values. */
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
