/** The settings of an OpenID Connect provider, and the access that its claims grant. */
import type { Role } from '#domain/kernel/actor.ts';
import type { GroupId } from '#domain/kernel/ids.ts';
import { emailProblem } from '#domain/kernel/names.ts';

/** Whether a sign-in may be linked to an existing account with the same verified email address. */
export const accountLinks = ['verified_email', 'never'] as const;
export type AccountLink = (typeof accountLinks)[number];

export interface IdentityProviderSettings {
  /** The name on the sign-in page. */
  readonly name: string;
  readonly enabled: boolean;
  /** The issuer URL, with a trailing slash only if the provider's metadata has one. */
  readonly issuer: string;
  readonly clientId: string;
  /** Scopes that are requested in addition to `openid`. */
  readonly scopes: readonly string[];
  readonly linkAccounts: AccountLink;
  /** Whether a first sign-in creates an account. */
  readonly createAccounts: boolean;
  /** Whether email addresses count as verified if the provider omits the claim `email_verified`. */
  readonly trustEmails: boolean;
  /** If not empty, only users with an email address in one of these domains may sign in. Domains are in lower case. */
  readonly emailDomains: readonly string[];
  readonly rules: readonly ClaimRule[];
  /** The role of users to whom no rule grants a role. If null, these users cannot sign in. */
  readonly defaultRole: Role | null;
  /** Whether each sign-in replaces the role and groups of the account. Otherwise, only the first sign-in sets them. */
  readonly syncAccess: boolean;
}

/** A rule that grants a role, groups or access to the audit trail to users with a certain claim. */
export interface ClaimRule {
  /** Claim name. Dots select fields of nested objects, as in `realm_access.roles`. */
  readonly claim: string;
  /** The required value of the claim, or of an element if the claim is a list. `*` matches any value. */
  readonly value: string;
  readonly role: Role | null;
  readonly groupIds: readonly GroupId[];
  readonly canAudit: boolean;
}

export type Claims = Readonly<Record<string, unknown>>;

export interface GrantedAccess {
  /** Indexes of the matching rules, starting at 0. */
  readonly matched: readonly number[];
  /** The granted role. If null, the user may not sign in. */
  readonly role: Role | null;
  readonly groupIds: readonly GroupId[];
  readonly canAudit: boolean;
}

/** The roles, ordered from the fewest rights to the most. */
const byRights: readonly Role[] = ['viewer', 'operator', 'developer', 'administrator'];

/** Returns the access that the claims grant: the highest role and all groups from the matching rules. */
export function grantedAccess(
  { rules, defaultRole }: Pick<IdentityProviderSettings, 'rules' | 'defaultRole'>,
  claims: Claims,
): GrantedAccess {
  const matched = rules.flatMap((rule, index) => (matches(rule, claims) ? [{ rule, index }] : []));
  const roles = matched.flatMap(({ rule }) => rule.role ?? []);
  return {
    matched: matched.map(({ index }) => index),
    role: byRights.findLast((role) => roles.includes(role)) ?? defaultRole,
    groupIds: [...new Set(matched.flatMap(({ rule }) => rule.groupIds))],
    canAudit: matched.some(({ rule }) => rule.canAudit),
  };
}

function matches({ claim, value }: ClaimRule, claims: Claims): boolean {
  const found = valuesOf(claims, claim);
  return value === '*' ? found.length > 0 : found.includes(value);
}

/** Returns the values of a claim as text. If a claim's own name contains dots, it takes precedence over a nested
 *  field. */
function valuesOf(claims: Claims, claim: string): readonly string[] {
  const found = Object.hasOwn(claims, claim) ? claims[claim] : atPath(claims, claim.split('.'));
  return [found].flat().flatMap((one) => (isScalar(one) ? [String(one)] : []));
}

function atPath(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return atPath((value as Claims)[name], rest);
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

export interface ClaimedAddress {
  /** The email address in lower case. Null if the provider sent no address, or an address that accounts cannot have. */
  readonly email: string | null;
  readonly isVerified: boolean;
}

/** The maximum length of an email address (RFC 5321 §4.5.3.1.3). */
const maxAddress = 254;

/** Returns the email address from the claims. */
export function claimedAddress(
  { trustEmails }: Pick<IdentityProviderSettings, 'trustEmails'>,
  { email, email_verified: verified }: Claims,
): ClaimedAddress {
  if (typeof email !== 'string' || !email.includes('@')) return { email: null, isVerified: false };
  const address = email.trim().toLowerCase();
  if (address.length > maxAddress || emailProblem(address) !== undefined) {
    return { email: null, isVerified: false };
  }
  // Some providers send the string "true" instead of a boolean.
  const isVerified =
    verified === undefined ? trustEmails : verified === true || verified === 'true';
  return { email: address, isVerified };
}

/** Whether users with this email address may sign in through the provider. */
export function isAllowedAddress(
  { emailDomains }: Pick<IdentityProviderSettings, 'emailDomains'>,
  { email, isVerified }: ClaimedAddress,
): boolean {
  if (emailDomains.length === 0) return true;
  // Unverified addresses are refused, because users can enter any address in the provider's profile.
  return isVerified && emailDomains.includes(email?.split('@').at(-1) ?? '');
}

/** Describes the problem with an issuer URL. Returns `undefined` if the URL is valid. */
export function issuerProblem(issuer: string): string | undefined {
  const url = URL.parse(issuer);
  if (url === null) return 'is not a URL';
  if (url.username !== '' || url.search !== '' || url.hash !== '')
    return 'must not contain credentials, a query or a fragment';
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)) return undefined;
  return 'must use https; http is accepted for loopback addresses only';
}
