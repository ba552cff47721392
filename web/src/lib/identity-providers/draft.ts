import type {
  ClaimRule,
  IdentityProvider,
  IdentityProviderChange,
  NewIdentityProvider,
  Role,
} from '#lib/api/types.ts';

/** The values of the identity provider form. */
export interface Draft {
  slug: string;
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
  scopes: string;
  emailDomains: string;
  linkAccounts: boolean;
  createAccounts: boolean;
  trustEmails: boolean;
  syncAccess: boolean;
  /** An empty value grants no role. */
  defaultRole: Role | '';
  rules: RuleDraft[];
}

export interface RuleDraft {
  claim: string;
  value: string;
  /** An empty value grants no role. */
  role: Role | '';
  groupIds: string[];
  canAudit: boolean;
}

export const emptyRule: RuleDraft = {
  claim: 'groups',
  value: '',
  role: '',
  groupIds: [],
  canAudit: false,
};

/** Returns the initial form values. @param provider the provider to edit; null creates a provider */
export function draftOf(provider: IdentityProvider | null): Draft {
  return {
    slug: provider?.slug ?? '',
    name: provider?.name ?? '',
    issuer: provider?.issuer ?? '',
    clientId: provider?.client_id ?? '',
    clientSecret: '',
    scopes: (provider?.scopes ?? ['profile', 'email']).join(' '),
    emailDomains: (provider?.email_domains ?? []).join(' '),
    linkAccounts: provider?.link_accounts !== 'never',
    createAccounts: provider?.create_accounts ?? true,
    trustEmails: provider?.trust_emails ?? false,
    syncAccess: provider?.sync_access ?? true,
    defaultRole: provider?.default_role ?? '',
    rules: (provider?.rules ?? []).map(({ claim, value, role, group_ids, can_audit }) => ({
      claim,
      value,
      role: role ?? '',
      groupIds: group_ids ?? [],
      canAudit: can_audit ?? false,
    })),
  };
}

/** Returns the request body of a change. An empty client secret keeps the stored secret. */
export function changeOf(draft: Draft): Omit<NewIdentityProvider, 'slug'> & IdentityProviderChange {
  return {
    name: draft.name.trim(),
    issuer: draft.issuer.trim(),
    client_id: draft.clientId.trim(),
    ...(draft.clientSecret !== '' && { client_secret: draft.clientSecret }),
    scopes: words(draft.scopes),
    email_domains: words(draft.emailDomains.toLowerCase()),
    link_accounts: draft.linkAccounts ? 'verified_email' : 'never',
    create_accounts: draft.createAccounts,
    trust_emails: draft.trustEmails,
    sync_access: draft.syncAccess,
    default_role: draft.defaultRole || null,
    rules: draft.rules.map(ruleOf),
  };
}

function ruleOf({ claim, value, role, groupIds, canAudit }: RuleDraft): ClaimRule {
  return {
    claim: claim.trim(),
    value: value.trim(),
    role: role || null,
    group_ids: groupIds,
    can_audit: canAudit,
  };
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
