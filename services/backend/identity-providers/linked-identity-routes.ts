/** Manages the identities that can sign in to an account. */
import { findIdentityProvider } from '#projections/identity-providers/queries.ts';
import { findUser } from '#projections/users/queries.ts';
import { operation, type Operation } from '../http/operation.ts';
import { noContent } from '../http/outcome.ts';
import { notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { IdentityInput, LinkedIdentityItems } from './schema.ts';
import { identityJson } from './view.ts';

const tag = 'Users';
const access = { right: 'users.manage', session: true } as const;
const path = '/api/v1/users/{user_id}/identities';
const parameters = { user_id: pathParameters.userId };

const list = operation({
  method: 'get',
  path,
  operationId: 'listUserIdentities',
  summary: 'List the identities that are linked to an account',
  tag,
  access,
  parameters,
  responses: { 200: { description: 'The identities.', schema: LinkedIdentityItems } },
  handle: async ({ parameters: { user_id: userId } }, { readModels }) => {
    const user = await findUser(readModels, userId);
    return user === undefined ? notFound : json(200, { items: user.identities.map(identityJson) });
  },
});

const link = operation({
  method: 'put',
  path: `${path}/{identity_provider_id}`,
  operationId: 'linkUserIdentity',
  summary: 'Link an account to an identity by its subject',
  description:
    'The user can then sign in with this identity. An earlier identity of the same provider is ' +
    'replaced.',
  tag,
  access,
  parameters: { ...parameters, identity_provider_id: pathParameters.identityProviderId },
  body: { schema: IdentityInput, example: { subject: '248289761001' } },
  responses: { 204: { description: 'The identity is linked.', headers: ['Orch-Position'] } },
  refusals: ['already_exists'],
  handle: async ({ parameters, body: { subject }, context }, { commands, readModels }) => {
    const { user_id: userId, identity_provider_id: identityProviderId } = parameters;
    const provider = await findIdentityProvider(readModels, identityProviderId);
    if (provider === undefined) return notFound;
    const { issuer } = provider.settings;
    const identity = { identityProviderId, issuer, subject };
    return noContent(
      await commands.execute({ type: 'LinkIdentity', userId, ...identity }, context),
    );
  },
});

const unlink = operation({
  method: 'delete',
  path: `${path}/{identity_provider_id}`,
  operationId: 'unlinkUserIdentity',
  summary: 'Unlink the identity of a provider from an account',
  description: 'Open sessions are not ended. End them separately.',
  tag,
  access,
  parameters: { ...parameters, identity_provider_id: pathParameters.identityProviderId },
  responses: {
    204: { description: 'The identity is no longer linked.', headers: ['Orch-Position'] },
  },
  handle: async ({ parameters, context }, { commands }) => {
    const { user_id: userId, identity_provider_id: identityProviderId } = parameters;
    return noContent(
      await commands.execute({ type: 'UnlinkIdentity', userId, identityProviderId }, context),
    );
  },
});

export const linkedIdentityOperations: readonly Operation[] = [list, link, unlink];
