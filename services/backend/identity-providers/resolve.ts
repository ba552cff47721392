/** Decides whether a sign-in at an identity provider uses, links or creates an account, or is refused. */
import {
  claimedAddress,
  grantedAccess,
  isAllowedAddress,
  type Claims,
  type ClaimedAddress,
  type GrantedAccess,
} from '#domain/identity-provider/provider.ts';
import { mustParse, parseIdentityProviderId, type IdentityProviderId } from '#domain/kernel/ids.ts';
import type { Role } from '#domain/kernel/actor.ts';
import type { Identity } from '#domain/user/events.ts';
import type { IdentityProvidersTable } from '#projections/identity-providers/table.ts';
import type { ReadModels } from '#projections/projection.ts';
import { findUserByEmail, findUserByIdentity } from '#projections/users/queries.ts';
import type { UsersTable } from '#projections/users/table.ts';

/** Why a sign-in is refused. The login page has a message for each reason. */
export type RefusalReason =
  | 'account_disabled'
  | 'address_not_allowed'
  | 'address_taken'
  | 'address_unverified'
  | 'no_account'
  | 'no_role';

export type Resolution =
  | { readonly outcome: 'sign_in' | 'link'; readonly user: UsersTable }
  | { readonly outcome: 'create'; readonly email: string; readonly role: Role }
  | { readonly outcome: 'refuse'; readonly reason: RefusalReason };

export interface Resolved {
  readonly identity: Identity;
  readonly address: ClaimedAddress;
  readonly access: GrantedAccess;
  readonly resolution: Resolution;
}

export async function resolveSignIn(
  provider: IdentityProvidersTable,
  claims: Claims,
  db: ReadModels,
): Promise<Resolved> {
  const { settings } = provider;
  const identityProviderId = idOf(provider);
  const { iss: issuer = settings.issuer, sub: subject = '' } = claims;
  const identity = { identityProviderId, issuer: String(issuer), subject: String(subject) };
  const address = claimedAddress(settings, claims);
  const access = grantedAccess(settings, claims);
  const [linked, known] = await Promise.all([
    findUserByIdentity(db, identity),
    address.email === null ? undefined : findUserByEmail(db, address.email),
  ]);
  const resolution = resolve(provider, { address, access, linked, known });
  return { identity, address, access, resolution };
}

interface Found extends Pick<Resolved, 'address' | 'access'> {
  /** The account that is linked to the identity. */
  readonly linked: UsersTable | undefined;
  /** The account that has the email address. */
  readonly known: UsersTable | undefined;
}

function resolve(
  provider: IdentityProvidersTable,
  { address, access, linked, known }: Found,
): Resolution {
  const { settings } = provider;
  const { role } = access;
  if (!isAllowedAddress(settings, address)) return refuse('address_not_allowed');
  if (role === null) return refuse('no_role');
  if (linked !== undefined) return signInTo(linked, 'sign_in');
  if (address.email === null || !address.isVerified) return refuse('address_unverified');
  if (known !== undefined) {
    // An account that already has an identity from this provider cannot get another, because the provider may have
    // assigned the email address to another person.
    const hasOther = known.identities.some((one) => one.identityProviderId === idOf(provider));
    const mayLink = settings.linkAccounts === 'verified_email' && !hasOther;
    return mayLink ? signInTo(known, 'link') : refuse('address_taken');
  }
  if (!settings.createAccounts) return refuse('no_account');
  return { outcome: 'create', email: address.email, role };
}

function signInTo(user: UsersTable, outcome: 'sign_in' | 'link'): Resolution {
  return user.disabled ? refuse('account_disabled') : { outcome, user };
}

function refuse(reason: RefusalReason): Resolution {
  return { outcome: 'refuse', reason };
}

export function idOf(provider: IdentityProvidersTable): IdentityProviderId {
  return mustParse(parseIdentityProviderId, provider.identity_provider_id);
}
