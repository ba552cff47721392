/** Manages external secret stores. */
import {
  mustParse,
  parseGroupId,
  parseSecretStoreId,
  type SecretStoreId,
} from '#domain/kernel/ids.ts';
import { StoreFailure } from '#domain/ports/secret-stores.ts';
import type { ChangeSecretStore, CreateSecretStore } from '#domain/secret-store/commands.ts';
import { credentialPlace, storeTimeoutMs } from '#infra/secret-stores/secret-stores.ts';
import { UnreadableSecret } from '#infra/secrets/envelope.ts';
import { findSecretStore, listSecretStores } from '#projections/secret-stores/queries.ts';
import { visibleGroups } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, positionHeader, writtenReply } from '../http/outcome.ts';
import { fieldProblem, isProblem, notFound } from '../http/problem.ts';
import { json, nothing } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { sealing } from '../http/sealing.ts';
import type { Services } from '../services.ts';
import { readConnection } from './connection.ts';
import {
  SecretStoreInput,
  newSecretStoreExample,
  SecretStore,
  SecretStoreChange,
  SecretStoreItems,
  SecretStoreTest,
  SecretStoreTestResult,
} from './schema.ts';
import { canSeeStore, secretStoreJson } from './view.ts';

const tag = 'Secrets';
const path = '/api/v1/secret-stores';
const reading = { right: 'secrets.manage' } as const;
const managing = { right: 'system.manage' } as const;
const parameters = { secret_store_id: pathParameters.secretStoreId };

const list = operation({
  method: 'get',
  path,
  operationId: 'listSecretStores',
  summary: "List the external secret stores that the caller's scripts may read",
  description: 'Connection settings are visible to administrators only.',
  tag,
  access: reading,
  responses: { 200: { description: 'The secret stores.', schema: SecretStoreItems } },
  handle: async ({ principal }, { readModels }) => {
    const visible = visibleGroups(principal);
    const rows = (await listSecretStores(readModels)).filter((row) => canSeeStore(row, visible));
    return json(200, { items: rows.map((row) => secretStoreJson(row, visible)) });
  },
});

const get = operation({
  method: 'get',
  path: `${path}/{secret_store_id}`,
  operationId: 'getSecretStore',
  summary: 'Read a secret store',
  tag,
  access: reading,
  parameters,
  responses: { 200: { description: 'The secret store.', schema: SecretStore } },
  handle: async ({ principal, parameters: { secret_store_id: id } }, { readModels }) => {
    const visible = visibleGroups(principal);
    const row = await findSecretStore(readModels, id);
    if (row === undefined || !canSeeStore(row, visible)) return notFound;
    return json(200, secretStoreJson(row, visible));
  },
});

const create = operation({
  method: 'post',
  path,
  operationId: 'createSecretStore',
  summary: 'Create a secret store',
  description:
    'Secrets of scripts and groups can then refer to values in the store. Each run reads these ' +
    'values when it starts. ' +
    'The credential is encrypted and never returned.',
  tag,
  access: managing,
  creates: true,
  body: { schema: SecretStoreInput, example: newSecretStoreExample },
  responses: {
    201: {
      description: 'The secret store was created.',
      schema: SecretStore,
      headers: ['Location', 'Orch-Position'],
    },
  },
  refusals: ['already_exists', 'version_mismatch', 'unavailable'],
  handle: async ({ body, context }, services) => {
    const connection = readConnection(body.type, body);
    if (isProblem(connection)) return connection;
    const { credential } = body;
    if (connection.type === 'vault' && credential === undefined) {
      return fieldProblem('credential', 'is required');
    }
    const secretStoreId = mustParse(parseSecretStoreId, services.ids.next());
    return await sealing('The credential', async () => {
      const command: CreateSecretStore = {
        type: 'CreateSecretStore',
        secretStoreId,
        name: body.name,
        groupIds: groupsOf(body.group_ids),
        connection,
        sealed: credential === undefined ? null : await seal(secretStoreId, credential, services),
      };
      const outcome = await services.commands.execute(command, context);
      return await writtenReply(outcome, parseSecretStoreId, shown(services), path);
    });
  },
});

const change = operation({
  method: 'patch',
  path: `${path}/{secret_store_id}`,
  operationId: 'changeSecretStore',
  summary: 'Change a secret store',
  description:
    'An omitted credential is kept, unless the address, the namespace or the authentication ' +
    'method changes, so that another server never receives the credential.',
  tag,
  access: managing,
  parameters,
  body: {
    schema: SecretStoreChange,
    example: { name: 'Company Vault' },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: {
    200: { description: 'The secret store.', schema: SecretStore, headers: ['Orch-Position'] },
  },
  refusals: ['already_exists', 'version_mismatch', 'unavailable'],
  handle: async ({ parameters: { secret_store_id: id }, body, context }, services) => {
    const row = await findSecretStore(services.readModels, id);
    if (row === undefined) return notFound;
    const present = row.settings.connection;
    const connection = readConnection(present.type, body, present);
    if (isProblem(connection)) return connection;
    const { name, group_ids: groupIds, credential } = body;
    return await sealing('The credential', async () => {
      const command: ChangeSecretStore = {
        type: 'ChangeSecretStore',
        secretStoreId: id,
        connection,
        ...(name !== undefined && { name }),
        ...(groupIds !== undefined && { groupIds: groupsOf(groupIds) }),
        ...(credential !== undefined && { sealed: await seal(id, credential, services) }),
        expectedVersion: row.stream_version,
      };
      const outcome = await services.commands.execute(command, context);
      return await writtenReply(outcome, parseSecretStoreId, shown(services));
    });
  },
});

const remove = operation({
  method: 'delete',
  path: `${path}/{secret_store_id}`,
  operationId: 'deleteSecretStore',
  summary: 'Delete a secret store that no secret uses',
  description: 'The encryption key of the credential is destroyed.',
  tag,
  access: managing,
  parameters,
  responses: { 204: { description: 'The secret store was deleted.', headers: ['Orch-Position'] } },
  refusals: ['secret_store_in_use'],
  handle: async ({ parameters: { secret_store_id: id }, context }, services) => {
    const command = { type: 'DeleteSecretStore', secretStoreId: id } as const;
    const outcome = accepted(await services.commands.execute(command, context));
    if (isProblem(outcome)) return outcome;
    await services.vault.destroyUnusedKey(id);
    return nothing(204, positionHeader(outcome));
  },
});

const test = operation({
  method: 'post',
  path: `${path}/{secret_store_id}/test`,
  operationId: 'testSecretStore',
  summary: 'Check that a secret store can be read',
  description:
    'Connects and signs in to the store. With a path and a key, also reads that value, without ' +
    'returning it. Changes nothing.',
  tag,
  access: managing,
  parameters,
  body: { schema: SecretStoreTest, example: {}, optional: true },
  responses: { 200: { description: 'The outcome.', schema: SecretStoreTestResult } },
  handle: async ({ parameters: { secret_store_id: id }, body }, services) => {
    const row = await findSecretStore(services.readModels, id);
    if (row === undefined) return notFound;
    const { path: place = '', key } = body;
    try {
      const store = await services.secretStores.open(row);
      const signal = AbortSignal.timeout(storeTimeoutMs);
      if (key === undefined) await store.check(signal);
      else await store.read({ path: place, key }, signal);
      return json(200, { ok: true, detail: null });
    } catch (error) {
      if (!(error instanceof StoreFailure || error instanceof UnreadableSecret)) throw error;
      return json(200, { ok: false, detail: error.message });
    }
  },
});

function groupsOf(ids: readonly string[] | null) {
  return ids?.map((id) => mustParse(parseGroupId, id)) ?? null;
}

async function seal(storeId: string, credential: string, { vault }: Services) {
  return await vault.seal(credentialPlace(storeId), credential);
}

const shown =
  ({ readModels }: Services) =>
  async (id: SecretStoreId) => {
    const row = await findSecretStore(readModels, id);
    return row && secretStoreJson(row, null);
  };

export const secretStoreOperations: readonly Operation[] = [
  list,
  create,
  get,
  change,
  remove,
  test,
];
