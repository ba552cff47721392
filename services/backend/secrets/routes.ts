/** Secrets of a script: their names, never their values. */
import type { CommandContext, Outcome } from '#domain/ports/commands.ts';
import type { SecretCommand, SetSecret } from '#domain/secret/commands.ts';
import { isSecretName, maxSecretBytes } from '#domain/secret/secret.ts';
import { UnreadableSecret } from '#infra/secrets/envelope.ts';
import {
  findSecret,
  lastSecretVersion,
  listSecrets,
  type SecretView,
} from '#projections/secrets/queries.ts';
import Type from 'typebox';
import { seesScript } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, positionHeader } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply } from '../http/paging.ts';
import { isProblem, notFound, problem } from '../http/problem.ts';
import { json, nothing } from '../http/reply.ts';
import { pageQuery, pathParameters } from '../http/schema.ts';
import type { Services } from '../services.ts';
import { Secret, SecretPage, SecretValue } from './schema.ts';

const tag = 'Secrets';
const parameters = { id: pathParameters.scriptId, name: pathParameters.secretName };
/** The number of attempts while the secret is changed concurrently. */
const maxTries = 5;

const list = operation({
  method: 'get',
  path: '/api/v1/scripts/{id}/secrets',
  operationId: 'listSecrets',
  summary: 'List the secrets of a script by name; values are never returned',
  tag,
  access: { right: 'secrets.manage' },
  parameters: { id: pathParameters.scriptId },
  query: Type.Object(pageQuery, { additionalProperties: false }),
  readsBehind: ['secret_uses'],
  responses: {
    200: { description: 'One page of the list.', schema: SecretPage, headers: ['Link'] },
  },
  handle: async ({ principal, parameters: { id }, query, url }, { readModels }) => {
    if (!(await seesScript(principal, id, readModels))) return notFound;
    const request = { list: 'secrets', filter: id, url, limit: query.limit, cursor: query.cursor };
    const after = keyOf(request, (name) => (isSecretName(name) ? name : undefined));
    if (isProblem(after)) return after;
    const size = (query.limit ?? defaultLimit) + 1;
    const rows = await listSecrets(readModels, id, after.key, size);
    return pageReply(request, rows, (row) => row.name, secretJson);
  },
});

const set = operation({
  method: 'put',
  path: '/api/v1/scripts/{id}/secrets/{name}',
  operationId: 'setSecret',
  summary: 'Set a secret of a script',
  description:
    'The value is encrypted with a key of the script before it is stored. Only the sandbox of the ' +
    "script's runs gets the value, and each access is recorded in the audit trail. Runs that start from " +
    'now on use the new value. The name must be a valid variable name. With `as_environment`, the secret ' +
    'is also exposed as an environment variable. Logs show values of 4 or more bytes as `***`. Copies ' +
    'and exports of the script contain no secrets.',
  tag,
  access: { right: 'secrets.manage' },
  parameters,
  body: { schema: SecretValue, example: { value: 'a value of your own', as_environment: true } },
  responses: { 200: { description: 'Set.', schema: Secret, headers: ['Orch-Position'] } },
  refusals: ['version_mismatch', 'unavailable'],
  handle: async ({ principal, parameters: { id, name }, body, context }, services) => {
    if (!(await seesScript(principal, id, services.readModels))) return notFound;
    if (!isSecretName(name)) {
      return problem('validation_failed', 'The name of a secret must be a valid variable name.');
    }
    if (Buffer.byteLength(body.value) > maxSecretBytes) {
      return problem('validation_failed', `The value exceeds ${maxSecretBytes} bytes.`);
    }
    const { value, as_environment: asEnvironment } = body;
    const wanted = {
      type: 'SetSecret',
      scriptId: id,
      name,
      ...(asEnvironment !== undefined && { asEnvironment }),
    } as const;
    try {
      const outcome = accepted(await setSealed(wanted, value, context, services));
      if (isProblem(outcome)) return outcome;
      const secret = await findSecret(services.readModels, id, name);
      if (secret === undefined) return notFound;
      return json(200, secretJson(secret), positionHeader(outcome));
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      return problem('unavailable', `The secret cannot be stored: ${error.message}.`);
    }
  },
});

/** Encrypts the value for the next version, and retries after a concurrent change. */
async function setSealed(
  wanted: Omit<SetSecret, 'version' | 'sealed'>,
  value: string,
  context: CommandContext,
  { vault, readModels, commands }: Services,
): Promise<Outcome> {
  const { scriptId, name } = wanted;
  for (let tries = 1; ; tries += 1) {
    const version = (await lastSecretVersion(readModels, scriptId, name)) + 1;
    const sealed = await vault.seal({ scriptId, name, version }, value);
    const outcome = await commands.execute({ ...wanted, version, sealed }, context);
    const isLate = outcome.kind === 'refused' && outcome.refusal.code === 'version_mismatch';
    if (!isLate || tries === maxTries) return outcome;
  }
}

const remove = operation({
  method: 'delete',
  path: '/api/v1/scripts/{id}/secrets/{name}',
  operationId: 'deleteSecret',
  summary: 'Delete a secret of a script',
  description:
    "Deleting the last secret destroys the script's key. All copies of its secrets, including those in " +
    'backups, become unreadable.',
  tag,
  access: { right: 'secrets.manage' },
  parameters,
  responses: { 204: { description: 'Deleted.', headers: ['Orch-Position'] } },
  handle: async ({ principal, parameters: { id, name }, context }, services) => {
    if (!(await seesScript(principal, id, services.readModels))) return notFound;
    const command: SecretCommand = { type: 'DeleteSecret', scriptId: id, name };
    const outcome = accepted(await services.commands.execute(command, context));
    if (isProblem(outcome)) return outcome;
    await services.vault.destroyUnusedKey(id);
    return nothing(204, positionHeader(outcome));
  },
});

function secretJson(secret: SecretView) {
  return {
    name: secret.name,
    version: secret.version,
    as_environment: secret.as_environment,
    updated_at: secret.updated_at,
    updated_by: secret.updated_by,
    last_used_at: secret.last_used_at,
    last_used_by: secret.last_used_by,
  };
}

export const secretOperations: readonly Operation[] = [list, set, remove];
