/** Formats identity providers for API responses. The client secret is never returned. */
import type { ClaimRule } from '#domain/identity-provider/provider.ts';
import type { Identity } from '#domain/user/events.ts';
import type { IdentityProvidersTable } from '#projections/identity-providers/table.ts';

/** @param origin this service's origin */
export function identityProviderJson(row: IdentityProvidersTable, origin: string) {
  const { settings } = row;
  return {
    id: row.identity_provider_id,
    slug: row.slug,
    name: settings.name,
    enabled: settings.enabled,
    issuer: settings.issuer,
    client_id: settings.clientId,
    scopes: settings.scopes,
    link_accounts: settings.linkAccounts,
    create_accounts: settings.createAccounts,
    trust_emails: settings.trustEmails,
    email_domains: settings.emailDomains,
    rules: settings.rules.map(ruleJson),
    default_role: settings.defaultRole,
    sync_access: settings.syncAccess,
    has_client_secret: row.sealed !== null,
    redirect_uri: redirectUri(row.slug, origin),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

function ruleJson({ claim, value, role, groupIds, canAudit }: ClaimRule) {
  return { claim, value, role, group_ids: groupIds, can_audit: canAudit };
}

export function identityJson({ identityProviderId, issuer, subject }: Identity) {
  return { identity_provider_id: identityProviderId, issuer, subject };
}

/** The redirect URI to register at the provider. */
export function redirectUri(slug: string, origin: string): string {
  return `${origin}/api/v1/auth/oidc/${slug}/callback`;
}
