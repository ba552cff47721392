/** Manages identity providers for single sign-on. */
import type {
  ChangeIdentityProvider,
  CreateIdentityProvider,
} from '#domain/identity-provider/commands.ts';
import type { Claims, IdentityProviderSettings } from '#domain/identity-provider/provider.ts';
import {
  mustParse,
  parseGroupId,
  parseIdentityProviderId,
  type IdentityProviderId,
} from '#domain/kernel/ids.ts';
import {
  findIdentityProvider,
  listIdentityProviders,
} from '#projections/identity-providers/queries.ts';
import { JOSEError } from 'jose/errors';
import { decodeJwt } from 'jose/jwt/decode';
import type { Static } from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, positionHeader, writtenReply } from '../http/outcome.ts';
import { fieldProblem, isProblem, notFound } from '../http/problem.ts';
import { json, nothing } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { sealing } from '../http/sealing.ts';
import type { Services } from '../services.ts';
import { sealClientSecret } from './client-secret.ts';
import { resolveSignIn } from './resolve.ts';
import {
  ClaimsTrial,
  ClaimsTrialResult,
  IdentityProvider,
  IdentityProviderChange,
  IdentityProviderInput,
  IdentityProviderItems,
  newIdentityProviderExample,
} from './schema.ts';
import { identityProviderJson } from './view.ts';

const tag = 'Identity providers';
const path = '/api/v1/identity-providers';
const access = { right: 'users.manage', session: true } as const;
const parameters = { identity_provider_id: pathParameters.identityProviderId };

const list = operation({
  method: 'get',
  path,
  operationId: 'listIdentityProviders',
  summary: 'List identity providers',
  tag,
  access,
  responses: { 200: { description: 'All identity providers.', schema: IdentityProviderItems } },
  handle: async ({ origin }, { readModels }) => {
    const rows = await listIdentityProviders(readModels);
    return json(200, { items: rows.map((row) => identityProviderJson(row, origin)) });
  },
});

const get = operation({
  method: 'get',
  path: `${path}/{identity_provider_id}`,
  operationId: 'getIdentityProvider',
  summary: 'Read an identity provider',
  tag,
  access,
  parameters,
  responses: { 200: { description: 'The identity provider.', schema: IdentityProvider } },
  handle: async ({ parameters: { identity_provider_id: id }, origin }, { readModels }) => {
    const row = await findIdentityProvider(readModels, id);
    return row === undefined ? notFound : json(200, identityProviderJson(row, origin));
  },
});

const create = operation({
  method: 'post',
  path,
  operationId: 'createIdentityProvider',
  summary: 'Create an identity provider',
  description:
    'Users can sign in with the provider (OpenID Connect) as soon as it is enabled. Register the ' +
    '`redirect_uri` from the response with the provider. The client secret is encrypted and never ' +
    'returned. ' +
    'Public clients have no secret.',
  tag,
  access,
  creates: true,
  body: { schema: IdentityProviderInput, example: newIdentityProviderExample },
  responses: {
    201: {
      description: 'The identity provider was created.',
      schema: IdentityProvider,
      headers: ['Location', 'Orch-Position'],
    },
  },
  refusals: ['already_exists', 'version_mismatch', 'unavailable'],
  handle: async ({ body, context, origin }, services) => {
    const { slug, client_secret: secret = null } = body;
    // The ID is derived from the slug, so that two concurrent requests cannot create two providers with the same slug.
    const id = services.ids.derived('identity provider', slug);
    const identityProviderId = mustParse(parseIdentityProviderId, id);
    return await sealing('The client secret', async () => {
      const sealed = await sealClientSecret(services.vault, id, secret);
      const settings = { ...defaults, ...settingsOf(body) };
      const command: CreateIdentityProvider = {
        type: 'CreateIdentityProvider',
        identityProviderId,
        slug,
        sealed,
        ...settings,
        name: body.name,
        issuer: body.issuer,
        clientId: body.client_id,
      };
      const outcome = await services.commands.execute(command, context);
      return await writtenReply(outcome, parseIdentityProviderId, shown(origin, services), path);
    });
  },
});

const defaults: Omit<IdentityProviderSettings, 'name' | 'issuer' | 'clientId'> = {
  enabled: true,
  scopes: ['profile', 'email'],
  linkAccounts: 'verified_email',
  createAccounts: true,
  trustEmails: false,
  emailDomains: [],
  rules: [],
  defaultRole: null,
  syncAccess: true,
};

/** Converts the settings in the body to the domain's format. */
function settingsOf(
  body: Static<typeof IdentityProviderChange>,
): Partial<IdentityProviderSettings> {
  return {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.enabled !== undefined && { enabled: body.enabled }),
    ...(body.issuer !== undefined && { issuer: body.issuer }),
    ...(body.client_id !== undefined && { clientId: body.client_id }),
    ...(body.scopes !== undefined && { scopes: body.scopes }),
    ...(body.link_accounts !== undefined && { linkAccounts: body.link_accounts }),
    ...(body.create_accounts !== undefined && { createAccounts: body.create_accounts }),
    ...(body.trust_emails !== undefined && { trustEmails: body.trust_emails }),
    ...(body.email_domains !== undefined && { emailDomains: body.email_domains }),
    ...(body.default_role !== undefined && { defaultRole: body.default_role }),
    ...(body.sync_access !== undefined && { syncAccess: body.sync_access }),
    ...(body.rules !== undefined && {
      rules: body.rules.map(({ claim, value, role = null, group_ids = [], can_audit = false }) => ({
        claim,
        value,
        role,
        groupIds: group_ids.map((id) => mustParse(parseGroupId, id)),
        canAudit: can_audit,
      })),
    }),
  };
}

const change = operation({
  method: 'patch',
  path: `${path}/{identity_provider_id}`,
  operationId: 'changeIdentityProvider',
  summary: 'Change an identity provider',
  description:
    'An omitted client secret is kept, unless the issuer changes, so that another issuer never ' +
    'receives the secret.',
  tag,
  access,
  parameters,
  body: {
    schema: IdentityProviderChange,
    example: { enabled: false },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: {
    200: {
      description: 'The updated resource.',
      schema: IdentityProvider,
      headers: ['Orch-Position'],
    },
  },
  refusals: ['version_mismatch', 'unavailable'],
  handle: async ({ parameters: { identity_provider_id: id }, body, context, origin }, services) => {
    const row = await findIdentityProvider(services.readModels, id);
    if (row === undefined) return notFound;
    const { client_secret: secret } = body;
    const hasMoved = body.issuer !== undefined && body.issuer !== row.settings.issuer;
    if (hasMoved && row.sealed !== null && secret === undefined) {
      return fieldProblem('client_secret', 'is required when the issuer changes');
    }
    return await sealing('The client secret', async () => {
      const sealed =
        secret === undefined ? undefined : await sealClientSecret(services.vault, id, secret);
      const command: ChangeIdentityProvider = {
        type: 'ChangeIdentityProvider',
        identityProviderId: id,
        ...settingsOf(body),
        ...(sealed !== undefined && { sealed, expectedVersion: row.stream_version }),
      };
      const outcome = await services.commands.execute(command, context);
      return await writtenReply(outcome, parseIdentityProviderId, shown(origin, services));
    });
  },
});

const remove = operation({
  method: 'delete',
  path: `${path}/{identity_provider_id}`,
  operationId: 'deleteIdentityProvider',
  summary: 'Delete an identity provider',
  description:
    'Users will no longer be able to sign in with the provider. Their accounts and open sessions remain. The ' +
    'encryption key ' +
    'of the client secret is destroyed.',
  tag,
  access,
  parameters,
  responses: {
    204: { description: 'The identity provider was deleted.', headers: ['Orch-Position'] },
  },
  handle: async ({ parameters: { identity_provider_id: id }, context }, services) => {
    const command = { type: 'DeleteIdentityProvider', identityProviderId: id } as const;
    const outcome = accepted(await services.commands.execute(command, context));
    if (isProblem(outcome)) return outcome;
    await services.vault.destroyUnusedKey(id);
    return nothing(204, positionHeader(outcome));
  },
});

const tryClaims = operation({
  method: 'post',
  path: `${path}/{identity_provider_id}/try`,
  operationId: 'tryClaims',
  summary: 'Test the outcome of a sign-in with an ID token or with claims',
  description: 'Changes nothing.',
  tag,
  access,
  parameters,
  body: {
    schema: ClaimsTrial,
    example: { claims: { sub: '248289761001', email: 'ada@example.com', email_verified: true } },
  },
  responses: { 200: { description: 'The outcome.', schema: ClaimsTrialResult } },
  handle: async ({ parameters: { identity_provider_id: id }, body }, { readModels }) => {
    const row = await findIdentityProvider(readModels, id);
    if (row === undefined) return notFound;
    const claims = body.claims === undefined ? claimsOfToken(body.token ?? '') : { ...body.claims };
    if (claims === undefined) return fieldProblem('token', 'is not a JSON Web Token');
    const { address, access: granted, resolution } = await resolveSignIn(row, claims, readModels);
    return json(200, {
      outcome: resolution.outcome,
      reason: resolution.outcome === 'refuse' ? resolution.reason : null,
      user_id: 'user' in resolution ? resolution.user.user_id : null,
      email: address.email,
      email_verified: address.isVerified,
      matched_rules: granted.matched,
      role: granted.role,
      group_ids: granted.groupIds,
      can_audit: granted.canAudit,
      claims,
    });
  },
});

function claimsOfToken(token: string): Claims | undefined {
  try {
    return decodeJwt(token.trim());
  } catch (error) {
    if (error instanceof JOSEError) return undefined;
    throw error;
  }
}

const shown =
  (origin: string, { readModels }: Services) =>
  async (id: IdentityProviderId) => {
    const row = await findIdentityProvider(readModels, id);
    return row && identityProviderJson(row, origin);
  };

export const identityProviderOperations: readonly Operation[] = [
  list,
  create,
  get,
  change,
  remove,
  tryClaims,
];
