/** The wire format of identity providers. */
import { accountLinks } from '#domain/identity-provider/provider.ts';
import Type from 'typebox';
import { RoleSchema } from '../access/schema.ts';
import { examples, Nullable, OneLine, Time, Uuid } from '../http/schema.ts';

const strict = { additionalProperties: false } as const;

const claimRule = Type.Object(
  {
    claim: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Name of a claim. Dots select fields of objects, such as `realm_access.roles`.',
    }),
    value: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The value of the claim, an element of a list, or `*` for any value.',
    }),
    role: Type.Optional(Nullable(RoleSchema)),
    group_ids: Type.Optional(Type.Array(Uuid(), { maxItems: 100, uniqueItems: true })),
    can_audit: Type.Optional(Type.Boolean()),
  },
  { title: 'ClaimRule', ...strict },
);

const settings = {
  name: OneLine(100),
  enabled: Type.Boolean(),
  issuer: Type.String({
    maxLength: 500,
    description: 'Issuer URL, whose `/.well-known/openid-configuration` describes the provider.',
  }),
  client_id: Type.String({ minLength: 1, maxLength: 500 }),
  scopes: Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,100}$' }), {
    maxItems: 20,
    description: 'Requested in addition to `openid`.',
  }),
  link_accounts: Type.Enum(accountLinks, {
    description:
      'Whether a first sign-in is linked to the existing account with the same verified email address.',
  }),
  create_accounts: Type.Boolean({ description: 'Whether a first sign-in creates an account.' }),
  trust_emails: Type.Boolean({
    description:
      'Whether addresses count as verified if the provider does not send `email_verified`.',
  }),
  email_domains: Type.Array(
    Type.String({ maxLength: 253, pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)*$' }),
    {
      maxItems: 50,
      description:
        'Email domains whose users may sign in with a verified address. If empty, any address is allowed.',
    },
  ),
  rules: Type.Array(claimRule, {
    maxItems: 100,
    description:
      'Rules that grant access by claims. Users get the highest role and all groups of the matching rules.',
  }),
  default_role: Nullable(RoleSchema),
  sync_access: Type.Boolean({
    description:
      'Whether each sign-in replaces the role and groups of the account. Otherwise, only the ' +
      'first sign-in does.',
  }),
};

const clientSecret = Type.Optional(
  Nullable(Type.String({ minLength: 1, maxLength: 2000, pattern: '^\\S+$' })),
);

const example = {
  slug: 'acme',
  name: 'Acme',
  enabled: true,
  issuer: 'https://id.example.com',
  client_id: 'orchestrator',
  scopes: ['profile', 'email'],
  link_accounts: 'verified_email',
  create_accounts: true,
  trust_emails: false,
  email_domains: ['example.com'],
  rules: [{ claim: 'groups', value: 'ops', role: 'operator', group_ids: [], can_audit: false }],
  default_role: 'viewer',
  sync_access: true,
};

export const identityProviderExample = {
  ...example,
  id: examples.identityProviderId,
  has_client_secret: true,
  redirect_uri: 'https://orchestrator.example.com/api/v1/auth/oidc/acme/callback',
  created_at: examples.time,
  updated_at: examples.time,
};

const slug = Type.String({
  pattern: '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$',
  description: 'Short name in the redirect URI. Cannot be changed.',
});

export const IdentityProvider = Type.Object(
  {
    id: Uuid(),
    slug,
    ...settings,
    has_client_secret: Type.Boolean(),
    redirect_uri: Type.String({ description: 'Register this URI with the provider.' }),
    created_at: Time(),
    updated_at: Time(),
  },
  { title: 'IdentityProvider', ...strict, examples: [identityProviderExample] },
);

export const IdentityProviderItems = Type.Object(
  { items: Type.Array(IdentityProvider) },
  { title: 'IdentityProviderItems', ...strict },
);

const { name, issuer, client_id, ...others } = settings;

const optional = {
  enabled: Type.Optional(others.enabled),
  scopes: Type.Optional(others.scopes),
  link_accounts: Type.Optional(others.link_accounts),
  create_accounts: Type.Optional(others.create_accounts),
  trust_emails: Type.Optional(others.trust_emails),
  email_domains: Type.Optional(others.email_domains),
  rules: Type.Optional(others.rules),
  default_role: Type.Optional(others.default_role),
  sync_access: Type.Optional(others.sync_access),
};

export const IdentityProviderInput = Type.Object(
  { slug, name, issuer, client_id, client_secret: clientSecret, ...optional },
  { title: 'IdentityProviderInput', ...strict },
);

export const newIdentityProviderExample = { ...example, client_secret: 's3cr3t-of-the-client' };

export const IdentityProviderChange = Type.Object(
  {
    name: Type.Optional(name),
    issuer: Type.Optional(issuer),
    client_id: Type.Optional(client_id),
    client_secret: clientSecret,
    ...optional,
  },
  { title: 'IdentityProviderChange', ...strict },
);

/** The data that the sign-in page needs. */
export const SignInProviderItems = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          slug,
          name,
          start_url: Type.String({ description: 'URL that starts the sign-in at the provider.' }),
        },
        {
          title: 'SignInProvider',
          ...strict,
          examples: [{ slug: 'acme', name: 'Acme', start_url: '/api/v1/auth/oidc/acme/start' }],
        },
      ),
    ),
  },
  { title: 'SignInProviderItems', ...strict },
);

export const ClaimsTrial = Type.Object(
  {
    token: Type.Optional(
      Type.String({ maxLength: 20_000, description: 'An ID token. Its signature is not checked.' }),
    ),
    claims: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, description: 'Claims, as an alternative to `token`.' },
      ),
    ),
  },
  { title: 'ClaimsTrial', ...strict },
);

export const ClaimsTrialResult = Type.Object(
  {
    outcome: Type.Enum(['sign_in', 'link', 'create', 'refuse'], {
      description:
        'What a sign-in with these claims would do: open the linked account, link an account, create an account, ' +
        'or refuse the sign-in.',
    }),
    reason: Nullable(Type.String({ description: 'Why the sign-in is refused.' })),
    user_id: Nullable(Uuid('The account that signs in.')),
    email: Nullable(Type.String()),
    email_verified: Type.Boolean(),
    matched_rules: Type.Array(Type.Integer(), {
      description: 'Indexes of the matching rules, starting at 0.',
    }),
    role: Nullable(RoleSchema),
    group_ids: Type.Array(Uuid()),
    can_audit: Type.Boolean(),
    claims: Type.Object({}, { additionalProperties: true }),
  },
  {
    title: 'ClaimsTrialResult',
    ...strict,
    examples: [
      {
        outcome: 'create',
        reason: null,
        user_id: null,
        email: 'ada@example.com',
        email_verified: true,
        matched_rules: [0],
        role: 'operator',
        group_ids: [],
        can_audit: false,
        claims: { sub: '248289761001', email: 'ada@example.com', email_verified: true },
      },
    ],
  },
);

export const LinkedIdentity = Type.Object(
  {
    identity_provider_id: Uuid(),
    issuer: Type.String(),
    subject: Type.String({ description: "The user's ID at the provider (claim `sub`)." }),
  },
  {
    title: 'LinkedIdentity',
    ...strict,
    examples: [
      {
        identity_provider_id: examples.identityProviderId,
        issuer: 'https://id.example.com',
        subject: '248289761001',
      },
    ],
  },
);

export const LinkedIdentityItems = Type.Object(
  { items: Type.Array(LinkedIdentity) },
  { title: 'LinkedIdentityItems', ...strict },
);

export const IdentityInput = Type.Object(
  { subject: Type.String({ minLength: 1, maxLength: 255 }) },
  { title: 'IdentityInput', ...strict },
);
