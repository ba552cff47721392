/** Manages Git repositories that provide scripts and configuration. */
import {
  mustParse,
  parseCommandId,
  parseRepositoryId,
  parseScriptId,
  type RepositoryId,
} from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { ChangeRepository, CreateRepository } from '#domain/repository/commands.ts';
import { privateKeyProblem } from '#domain/repository/private-key.ts';
import type { RepositorySettings } from '#domain/repository/repository.ts';
import { scriptsWithCommitChanges } from '#projections/approvals/queries.ts';
import {
  findRepository,
  listRepositories,
  sourcedScripts,
} from '#projections/repositories/queries.ts';
import type { Static } from 'typebox';
import { editOf } from '../access/edit-script.ts';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, positionHeader, refusalProblem, writtenId } from '../http/outcome.ts';
import { fieldProblem, isProblem, notFound } from '../http/problem.ts';
import { json, nothing, type Answer } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { sealing } from '../http/sealing.ts';
import type { Services } from '../services.ts';
import { newHook, sealCredential } from './credentials.ts';
import { readDrift } from './drift.ts';
import {
  AddedRepository,
  Repository,
  RepositoryChange,
  RepositoryHook,
  RepositoryInput,
  repositoryInputExample,
  RepositoryItems,
} from './schema.ts';
import { repositoryJson } from './view.ts';

const tag = 'Repositories';
const path = '/api/v1/repositories';
const access = { right: 'system.manage' } as const;
const parameters = { repository_id: pathParameters.repositoryId };

const list = operation({
  method: 'get',
  path,
  operationId: 'listRepositories',
  summary: 'List Git repositories',
  tag,
  access,
  responses: { 200: { description: 'All repositories.', schema: RepositoryItems } },
  handle: async (_call, services) => {
    const drift = await readDrift(services);
    const rows = await listRepositories(services.readModels);
    return json(200, {
      items: rows.map((row) => repositoryJson(row, drift.get(row.repository_id))),
    });
  },
});

const get = operation({
  method: 'get',
  path: `${path}/{repository_id}`,
  operationId: 'getRepository',
  summary: 'Read a Git repository',
  tag,
  access,
  parameters,
  responses: { 200: { description: 'The repository.', schema: Repository } },
  handle: async ({ parameters: { repository_id: id } }, services) =>
    (await answerWith(id, services)) ?? notFound,
});

const create = operation({
  method: 'post',
  path,
  operationId: 'createRepository',
  summary: 'Add a Git repository',
  description:
    'The first sync starts immediately. The credential is encrypted and never returned. Enter `hook.url` and ' +
    '`hook.secret` from the response in the webhook settings of the Git server (GitHub, GitLab or Gitea).',
  tag,
  access,
  creates: true,
  shownOnce: ['hook'],
  body: { schema: RepositoryInput, example: repositoryInputExample },
  responses: {
    201: {
      description: 'The repository was added.',
      schema: AddedRepository,
      headers: ['Location', 'Orch-Position'],
    },
  },
  refusals: ['already_exists', 'version_mismatch', 'unavailable'],
  handle: async ({ body, context, origin }, services) =>
    await sealing('The credential', async () => {
      const unusable = credentialProblem(body.credential);
      if (unusable !== undefined) return unusable;
      const id = services.ids.next();
      const repositoryId = mustParse(parseRepositoryId, id);
      const { hook, token, secret } = await newHook(services.vault, id);
      const credential = await sealCredential(services.vault, id, body.credential ?? null);
      const command: CreateRepository = {
        type: 'CreateRepository',
        repositoryId,
        branch: 'main',
        folder: '',
        pollSeconds: 60,
        mode: 'read',
        ...settingsOf(body),
        name: body.name,
        url: body.url,
        credential,
        hook,
      };
      const outcome = accepted(await services.commands.execute(command, context));
      if (isProblem(outcome)) return outcome;
      services.wakeRepositories();
      const addedId = writtenId(outcome, parseRepositoryId);
      const row = await findRepository(services.readModels, addedId);
      if (row === undefined) return notFound;
      // A repeated request adds no repository, and the secret of the first request cannot be shown again.
      const once = outcome.repeated ? {} : { hook: { url: hookUrl(origin, token), secret } };
      return json(
        201,
        { ...repositoryJson(row), ...once },
        {
          Location: `${path}/${addedId}`,
          ...positionHeader(outcome),
        },
      );
    }),
});

const hookUrl = (origin: string, token: string) => `${origin}/hooks/git/${token}`;

function settingsOf(body: Static<typeof RepositoryChange>): Partial<RepositorySettings> {
  return {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.url !== undefined && { url: body.url }),
    ...(body.branch !== undefined && { branch: body.branch }),
    ...(body.folder !== undefined && { folder: body.folder }),
    ...(body.poll_seconds !== undefined && { pollSeconds: body.poll_seconds }),
    ...(body.mode !== undefined && { mode: body.mode }),
    ...(body.write_branch !== undefined && { writeBranch: body.write_branch }),
  };
}

const change = operation({
  method: 'patch',
  path: `${path}/{repository_id}`,
  operationId: 'changeRepository',
  summary: 'Change a Git repository',
  description:
    'A sync starts immediately. An omitted credential is kept, unless the URL changes, so that ' +
    'another server never receives the credential.',
  tag,
  access,
  parameters,
  body: {
    schema: RepositoryChange,
    example: { branch: 'release' },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: {
    200: { description: 'The updated repository.', schema: Repository, headers: ['Orch-Position'] },
  },
  refusals: ['already_exists', 'version_mismatch', 'unavailable'],
  handle: async ({ parameters: { repository_id: id }, body, context }, services) => {
    const row = await findRepository(services.readModels, id);
    if (row === undefined) return notFound;
    const hasMoved = body.url !== undefined && body.url !== row.settings.url;
    if (hasMoved && row.credential !== null && body.credential === undefined)
      return fieldProblem('credential', 'is required when the URL changes');
    const unusable = credentialProblem(body.credential);
    if (unusable !== undefined) return unusable;
    return await sealing('The credential', async () => {
      const credential =
        body.credential === undefined
          ? undefined
          : await sealCredential(services.vault, id, body.credential);
      const command: ChangeRepository = {
        type: 'ChangeRepository',
        repositoryId: id,
        ...settingsOf(body),
        ...(credential !== undefined && { credential }),
      };
      return await changed(command, context, services);
    });
  },
});

async function changed(
  command: ChangeRepository,
  context: CommandContext,
  services: Services,
): Promise<Answer> {
  const outcome = accepted(await services.commands.execute(command, context));
  if (isProblem(outcome)) return outcome;
  services.wakeRepositories();
  return (await answerWith(command.repositoryId, services, positionHeader(outcome))) ?? notFound;
}

/** Responds with the repository and its drift; `undefined` if it does not exist. */
async function answerWith(
  id: RepositoryId,
  services: Services,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer | undefined> {
  const row = await findRepository(services.readModels, id);
  if (row === undefined) return undefined;
  return json(200, repositoryJson(row, (await readDrift(services)).get(id)), headers);
}

const rotate = operation({
  method: 'post',
  path: `${path}/{repository_id}/rotate-hook`,
  operationId: 'rotateRepositoryHook',
  summary: "Rotate the URL and secret of a repository's incoming webhook",
  description: 'The previous URL stops working immediately.',
  tag,
  access,
  parameters,
  responses: {
    200: {
      description: 'The new URL and secret.',
      schema: RepositoryHook,
      headers: ['Orch-Position'],
    },
  },
  refusals: ['version_mismatch', 'unavailable'],
  handle: async ({ parameters: { repository_id: id }, context, origin }, services) => {
    const row = await findRepository(services.readModels, id);
    if (row === undefined) return notFound;
    return await sealing('The credential', async () => {
      const { hook, token, secret } = await newHook(services.vault, id);
      const command = { type: 'ChangeRepository', repositoryId: id, hook } as const;
      const outcome = accepted(await services.commands.execute(command, context));
      if (isProblem(outcome)) return outcome;
      return json(200, { url: hookUrl(origin, token), secret }, positionHeader(outcome));
    });
  },
});

const remove = operation({
  method: 'delete',
  path: `${path}/{repository_id}`,
  operationId: 'deleteRepository',
  summary: 'Remove a Git repository',
  description:
    'The scripts and other resources from the repository are kept and become editable on the ' +
    'platform. The credential is destroyed.',
  tag,
  access,
  parameters,
  responses: { 204: { description: 'The repository was removed.', headers: ['Orch-Position'] } },
  handle: async ({ parameters: { repository_id: id }, context }, services) => {
    const { commands, ids, readModels, vault } = services;
    const row = await findRepository(readModels, id);
    const requested = await scriptsWithCommitChanges(readModels);
    const scripts = new Set([
      ...[...(await sourcedScripts(readModels))].flatMap(([scriptId, { source }]) =>
        source.repositoryId === id ? [scriptId] : [],
      ),
      // If a commit requested the restoration of a deleted script, the script has no source.
      ...(row?.provides ?? []).flatMap((one) => (requested.has(one.id) ? [one.id] : [])),
    ]);
    const all = [
      ...[...scripts].map((scriptId) => release(scriptId, id, context, services)),
      { type: 'DeleteRepository', repositoryId: id } as const,
    ];
    const outcome = await commands.executeAll(
      all.map((command) => ({
        command,
        context: { ...context, commandId: mustParse(parseCommandId, ids.next()) },
      })),
    );
    if (outcome.kind === 'refused') return refusalProblem(outcome.refusal);
    await vault.destroyUnusedKey(id);
    const last = outcome.outcomes.at(-1);
    return nothing(204, last === undefined ? {} : positionHeader(last));
  },
});

/** Makes the script editable, and withdraws the change that a commit requested. */
function release(id: string, repositoryId: RepositoryId, context: CommandContext, deps: Services) {
  const edit = { type: 'SetScriptSource', repositoryId, source: null } as const;
  const command = editOf(mustParse(parseScriptId, id), [edit], undefined, context, deps);
  return { ...command, approval: { ...command.approval, requestedBy: null } };
}

/** Refuses an unusable key before it is stored. */
function credentialProblem(given: Static<typeof RepositoryChange>['credential']) {
  const unusable = given?.kind === 'ssh_key' ? privateKeyProblem(given.private_key) : undefined;
  return unusable === undefined ? undefined : fieldProblem('credential/private_key', unusable);
}

export const repositoryOperations: readonly Operation[] = [
  list,
  create,
  get,
  change,
  remove,
  rotate,
];
