/** Manages script secrets and group secrets. Responses contain the names of secrets, never their values. */
import type { Command } from '#domain/aggregates.ts';
import type { Principal } from '#domain/kernel/actor.ts';
import type { GroupId, ScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext, Outcome } from '#domain/ports/commands.ts';
import type { SecretChange } from '#domain/secret/commands.ts';
import { isSecretName } from '#domain/secret/secret.ts';
import { listGroups } from '#projections/groups/queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import {
  findSecret,
  lastSecretVersion,
  listSecrets,
  type SecretOwner,
  type SecretView,
} from '#projections/secrets/queries.ts';
import { canSeeScript, isIn } from '../access/visibility.ts';
import { operation, type Operation, type PathParameter } from '../http/operation.ts';
import { accepted, positionHeader } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply, onePage } from '../http/paging.ts';
import { isProblem, notFound, problem } from '../http/problem.ts';
import { json, nothing } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters } from '../http/schema.ts';
import { sealing } from '../http/sealing.ts';
import type { Services } from '../services.ts';
import { readContent, sealContent, type SecretContent } from './content.ts';
import { Secret, SecretPage, SecretValue } from './schema.ts';

/** The maximum number of attempts if other requests change the secret concurrently. */
const maxTries = 5;

/** The rules that differ between script secrets and group secrets. */
interface OwnerRules<Id extends string> {
  readonly kind: SecretOwner['kind'];
  readonly path: string;
  readonly id: PathParameter<Id>;
  readonly operationIds: Readonly<Record<'list' | 'set' | 'remove', string>>;
  readonly readsBehind: 'secret_uses' | 'group_secret_uses';
  /** The first sentences of the description of `set`. */
  readonly recipients: string;
  readonly owner: (id: Id) => SecretOwner;
  readonly canSee: (principal: Principal, id: Id, db: ReadModels) => Promise<boolean>;
  readonly setCommand: (id: Id, change: SecretChange) => Command;
  readonly deleteCommand: (id: Id, name: string) => Command;
}

const scriptRules: OwnerRules<ScriptId> = {
  kind: 'script',
  path: '/api/v1/scripts/{id}/secrets',
  id: pathParameters.scriptId,
  operationIds: { list: 'listSecrets', set: 'setSecret', remove: 'deleteSecret' },
  readsBehind: 'secret_uses',
  recipients: "Only the sandboxes of the script's runs receive the value",
  owner: (id) => ({ kind: 'script', id }),
  canSee: canSeeScript,
  setCommand: (scriptId, change) => ({ type: 'SetSecret', scriptId, ...change }),
  deleteCommand: (scriptId, name) => ({ type: 'DeleteSecret', scriptId, name }),
};

const groupRules: OwnerRules<GroupId> = {
  kind: 'group',
  path: '/api/v1/groups/{id}/secrets',
  id: pathParameters.groupId,
  operationIds: { list: 'listGroupSecrets', set: 'setGroupSecret', remove: 'deleteGroupSecret' },
  readsBehind: 'group_secret_uses',
  recipients:
    "Only the sandboxes of runs of the group's scripts receive the value, unless the script has a " +
    'secret of the same ' +
    'name',
  owner: (id) => ({ kind: 'group', id }),
  canSee: async (principal, id, db) =>
    isIn(principal, id) && (await listGroups(db, [id], undefined, 1)).length > 0,
  setCommand: (groupId, change) => ({ type: 'SetGroupSecret', groupId, ...change }),
  deleteCommand: (groupId, name) => ({ type: 'DeleteGroupSecret', groupId, name }),
};

export const secretOperations: readonly Operation[] = [
  ...operationsOf(scriptRules),
  ...operationsOf(groupRules),
];

function operationsOf<Id extends string>(rules: OwnerRules<Id>): readonly Operation[] {
  const { kind, path, operationIds, owner, canSee } = rules;
  const shared = { tag: 'Secrets', access: { right: 'secrets.manage' } } as const;
  const parameters = { id: rules.id, name: pathParameters.secretName };

  const list = operation({
    ...shared,
    method: 'get',
    path,
    operationId: operationIds.list,
    summary: `List the secrets of a ${kind} by name; values are never returned`,
    parameters: { id: rules.id },
    query: Exact(pageQuery),
    readsBehind: [rules.readsBehind],
    responses: onePage(SecretPage),
    handle: async ({ principal, parameters: { id }, query, url }, { readModels }) => {
      if (!(await canSee(principal, id, readModels))) return notFound;
      const { limit, cursor } = query;
      const request = { list: `${kind} secrets`, filter: id, url, limit, cursor };
      const after = keyOf(request, (name) => (isSecretName(name) ? name : undefined));
      if (isProblem(after)) return after;
      const rows = await listSecrets(readModels, owner(id), after.key, (limit ?? defaultLimit) + 1);
      return pageReply(request, rows, (row) => row.name, secretJson);
    },
  });

  const set = operation({
    ...shared,
    method: 'put',
    path: `${path}/{name}`,
    operationId: operationIds.set,
    summary: `Set a secret of a ${kind}`,
    description:
      `The value is encrypted with a key of the ${kind} before it is stored. ${rules.recipients}, ` +
      'and each access is recorded in the audit trail. New runs use the new value. ' +
      'Instead of a value, `store`, `path` and `key` refer to a value in an external secret store. ' +
      'The name must be a valid variable name. With `as_environment`, the secret ' +
      'is also exposed as an environment variable. Logs show values of 4 or more bytes as `***`. Copies ' +
      'and exports of scripts contain no secrets.',
    parameters,
    body: { schema: SecretValue, example: { value: 'a value of your own', as_environment: true } },
    responses: {
      200: { description: 'The secret was set.', schema: Secret, headers: ['Orch-Position'] },
    },
    refusals: ['version_mismatch', 'unavailable'],
    handle: async ({ principal, parameters: { id, name }, body, context }, services) => {
      if (!(await canSee(principal, id, services.readModels))) return notFound;
      if (!isSecretName(name)) {
        return problem('validation_failed', 'The name of a secret must be a valid variable name.');
      }
      const content = await readContent(body, services.readModels);
      if (isProblem(content)) return content;
      const { as_environment: asEnvironment, rotate_after_days: rotateAfterDays } = body;
      const settings = {
        name,
        ...(asEnvironment !== undefined && { asEnvironment }),
        ...(rotateAfterDays !== undefined && { rotateAfterDays }),
      };
      const command = (sealed: SealedContent) => rules.setCommand(id, { ...settings, ...sealed });
      return await sealing('The secret', async () => {
        const place = { owner: owner(id), name };
        const outcome = accepted(await setSealed(place, content, command, context, services));
        if (isProblem(outcome)) return outcome;
        const secret = await findSecret(services.readModels, owner(id), name);
        if (secret === undefined) return notFound;
        return json(200, secretJson(secret), positionHeader(outcome));
      });
    },
  });

  const remove = operation({
    ...shared,
    method: 'delete',
    path: `${path}/{name}`,
    operationId: operationIds.remove,
    summary: `Delete a secret of a ${kind}`,
    description:
      `Deleting the last secret destroys the encryption key of the ${kind}. All copies of its secrets, including ` +
      'those in ' +
      'backups, become unreadable.',
    parameters,
    responses: { 204: { description: 'The secret was deleted.', headers: ['Orch-Position'] } },
    handle: async ({ principal, parameters: { id, name }, context }, services) => {
      if (!(await canSee(principal, id, services.readModels))) return notFound;
      const command = rules.deleteCommand(id, name);
      const outcome = accepted(await services.commands.execute(command, context));
      if (isProblem(outcome)) return outcome;
      await services.vault.destroyUnusedKey(id);
      return nothing(204, positionHeader(outcome));
    },
  });

  return [list, set, remove];
}

type SealedContent = Pick<SecretChange, 'version' | 'sealed' | 'source'>;

/** Encrypts the value for the next version, and stores it. Retries if a concurrent request has stored that version. */
async function setSealed(
  { owner, name }: { readonly owner: SecretOwner; readonly name: string },
  content: SecretContent,
  commandOf: (sealed: SealedContent) => Command,
  context: CommandContext,
  { vault, readModels, commands }: Services,
): Promise<Outcome> {
  for (let tries = 1; ; tries += 1) {
    const version = (await lastSecretVersion(readModels, owner, name)) + 1;
    const sealed = await sealContent(vault, { scriptId: owner.id, name, version }, content);
    const outcome = await commands.execute(commandOf({ version, ...sealed }), context);
    const isLate = outcome.kind === 'refused' && outcome.refusal.code === 'version_mismatch';
    if (!isLate || tries === maxTries) return outcome;
  }
}

function secretJson(secret: SecretView) {
  const [last] = secret.used_by;
  return {
    name: secret.name,
    version: secret.version,
    as_environment: secret.as_environment,
    rotate_after_days: secret.rotate_after_days,
    rotation_due_at: rotationDueAt(secret),
    store: secret.source?.storeId ?? null,
    path: secret.source?.path ?? null,
    key: secret.source?.key ?? null,
    updated_at: secret.updated_at,
    updated_by: secret.updated_by,
    last_used_at: last?.last_used_at ?? null,
    last_used_by: last?.run_id ?? null,
    used_by: secret.used_by,
  };
}

const dayMs = 24 * 60 * 60 * 1_000;

function rotationDueAt({ rotate_after_days: days, updated_at: at }: SecretView): Date | null {
  return days === null ? null : new Date(at.getTime() + days * dayMs);
}
