/** Lists, creates, reads, changes, deletes, enables and disables scripts. */
import type { Principal } from '#domain/kernel/actor.ts';
import { parseGroupId, parseScriptId, type ScriptId } from '#domain/kernel/ids.ts';
import { readActivity } from '#projections/scripts/activity.ts';
import { listScripts, scriptOrders, type ScriptListFilter } from '#projections/scripts/queries.ts';
import Type from 'typebox';
import { canSeeScriptOrDeleted, visibleGroups, visibleScript } from '../access/visibility.ts';
import { requested } from '../approvals/schema.ts';
import { etag, isUnchanged, versionOf } from '../http/conditional.ts';
import { operation, type Operation } from '../http/operation.ts';
import { noContent } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply, onePage } from '../http/paging.ts';
import { aboutCurrentGroups, atParameter } from '../http/point-in-time.ts';
import { deletedResource, isProblem, notFound, type Problem } from '../http/problem.ts';
import { json, nothing } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters } from '../http/schema.ts';
import { idOf, IdOrNot, SomeOf, wordsOf } from '../http/selection.ts';
import type { Services } from '../services.ts';
import { changeScript } from './change-script.ts';
import { createScript } from './create-script.ts';
import { scriptAt } from './history/script-at.ts';
import { commandScript, created, showEdited, showScript, shown } from './script-reply.ts';
import { NewScript, Script, ScriptChanges, ScriptPage } from './schema.ts';
import { listedJson, scriptJson } from './view.ts';

const tag = 'Scripts';
const parameters = { id: pathParameters.scriptId };

const endings = ['success', 'failed', 'stopped'] as const;

const list = operation({
  method: 'get',
  path: '/api/v1/scripts',
  operationId: 'listScripts',
  summary: 'List scripts, newest first',
  tag,
  access: { right: 'scripts.list' },
  query: Exact({
    ...pageQuery,
    group_id: Type.Optional(IdOrNot('group')),
    enabled: Type.Optional(Type.Boolean()),
    deleted: Type.Optional(
      Type.Boolean({
        description:
          '`true` lists deleted scripts that can be restored. By default, deleted scripts are omitted.',
      }),
    ),
    tag: Type.Optional(Type.String({ maxLength: 200, description: 'Only scripts with this tag.' })),
    last_status: Type.Optional(
      SomeOf(endings, 'Only scripts whose last finished run has this status'),
    ),
    sort: Type.Optional(
      Type.Enum(scriptOrders, {
        description:
          'Sort order: newest first (default), by name, by name descending, or last changed first.',
      }),
    ),
    q: Type.Optional(Type.String({ maxLength: 200, description: 'Matches part of the name.' })),
    ids: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f-]{36}(,[0-9a-f-]{36}){0,99}$',
        description: 'Only these scripts: up to 100 IDs, separated by commas.',
      }),
    ),
    with: Type.Optional(
      Type.Literal('activity', {
        description: 'Whether to include the latest runs and the next due time.',
      }),
    ),
  }),
  responses: onePage(ScriptPage),
  handle: async ({ principal, query, url }, { readModels }) => {
    const { limit, cursor, with: more, sort: order = 'created', ...wanted } = query;
    const visible = visibleGroups(principal);
    const request = { list: 'scripts', filter: { visible, wanted, order }, url, limit, cursor };
    const after = keyOf(request, parseScriptId);
    if (isProblem(after)) return after;
    const filter = filterOf(wanted, visible);
    const rows = await listScripts(
      readModels,
      filter,
      after.key,
      (limit ?? defaultLimit) + 1,
      order,
    );
    const ids = more === undefined ? [] : rows.map((row) => row.script_id);
    const activity = ids.length === 0 ? undefined : await readActivity(readModels, ids);
    return pageReply(
      request,
      rows,
      (row) => row.script_id,
      (row) => ({ ...listedJson(row), activity: activity?.get(row.script_id) }),
    );
  },
});

interface WantedScripts {
  readonly group_id?: string;
  readonly enabled?: boolean;
  readonly deleted?: boolean;
  readonly q?: string;
  readonly tag?: string;
  readonly last_status?: string;
  readonly ids?: string;
}

function filterOf(
  { group_id, enabled, deleted, q, tag, last_status, ids }: WantedScripts,
  visible: ScriptListFilter['groupIds'],
): ScriptListFilter {
  const { id, notId } = idOf(group_id, parseGroupId);
  return {
    groupIds: id === undefined ? visible : (visible ?? [id]).filter((one) => one === id),
    ...(notId !== undefined && { notGroupId: notId }),
    ...(enabled !== undefined && { enabled }),
    ...(deleted !== undefined && { deleted }),
    ...(ids !== undefined && {
      among: ids.split(',').filter((id) => parseScriptId(id) !== undefined),
    }),
    ...(q !== undefined && { text: q }),
    ...(tag !== undefined && { tag }),
    ...(last_status !== undefined && { lastStatuses: wordsOf(last_status, endings) }),
  };
}

const create = operation({
  method: 'post',
  path: '/api/v1/scripts',
  operationId: 'createScript',
  summary: 'Create a script with a runnable main.py',
  tag,
  access: { right: 'scripts.write' },
  creates: true,
  body: { schema: NewScript, example: { name: 'Price watcher', tags: ['prices'] } },
  responses: { 201: created },
  handle: async (call, services) => {
    const made = await createScript(call, services);
    if (isProblem(made)) return made;
    return await showScript(call, made.scriptId, services, made.outcome, 201);
  },
});

const get = operation({
  method: 'get',
  path: '/api/v1/scripts/{id}',
  operationId: 'getScript',
  summary: 'Read a script, now or at a point in time',
  description:
    "With `at`, `last_run` is `null`, because runs are not part of the script's state. " +
    `${aboutCurrentGroups}`,
  tag,
  access: { right: 'scripts.list' },
  parameters,
  query: Exact({ at: atParameter }),
  requestHeaders: ['If-None-Match'],
  responses: {
    200: { description: 'The script.', schema: Script, headers: ['ETag'] },
    304: { description: 'Not modified.' },
  },
  handle: async ({ principal, parameters: { id }, query: { at }, header }, services) => {
    const script =
      at === undefined
        ? ((await visibleScript(principal, id, services.readModels)) ??
          (await missingScript(principal, id, services)))
        : await scriptAt({ principal, scriptId: id, at }, services);
    if (isProblem(script)) return script;
    const headers = { ETag: etag(script.version) };
    if (isUnchanged(header('If-None-Match'), String(script.version))) return nothing(304, headers);
    return json(200, scriptJson(script), headers);
  },
});

/** Requests for deleted scripts are omitted from the audit trail, because nothing was denied. */
async function missingScript(
  principal: Principal,
  id: ScriptId,
  { readModels }: Services,
): Promise<Problem> {
  return (await canSeeScriptOrDeleted(principal, id, readModels)) ? deletedResource : notFound;
}

const change = operation({
  method: 'patch',
  path: '/api/v1/scripts/{id}',
  aliases: [{ method: 'put' }],
  operationId: 'changeScript',
  summary: 'Change a script',
  description:
    'A JSON merge patch (RFC 7396). Limits are merged individually; `null` removes a limit.',
  tag,
  access: { right: 'scripts.write' },
  parameters,
  requestHeaders: ['If-Match'],
  body: {
    schema: ScriptChanges,
    mediaTypes: ['application/merge-patch+json'],
    example: { description: 'Reads prices every hour.', limits: { wall_clock_seconds: 600 } },
  },
  responses: { 200: shown, 202: requested },
  refusals: ['approval_outdated', 'managed_by_repository', 'version_mismatch'],
  handle: async (call, services) => {
    const edited = await changeScript(call, services);
    if (isProblem(edited)) return edited;
    return await showEdited(call, call.parameters.id, services, edited);
  },
});

const remove = operation({
  method: 'delete',
  path: '/api/v1/scripts/{id}',
  operationId: 'deleteScript',
  summary: 'Delete a script; its history stays available',
  tag,
  access: { right: 'scripts.write' },
  parameters,
  requestHeaders: ['If-Match'],
  responses: { 204: { description: 'The script was deleted.', headers: ['Orch-Position'] } },
  refusals: ['managed_by_repository', 'version_mismatch'],
  handle: async (call, services) => {
    const condition = versionOf(call.header('If-Match'));
    if (isProblem(condition)) return condition;
    return noContent(
      await commandScript(call, services, {
        type: 'DeleteScript',
        scriptId: call.parameters.id,
        ...(condition.version !== undefined && { expectedVersion: condition.version }),
      }),
    );
  },
});

const enable = operation({
  method: 'post',
  path: '/api/v1/scripts/{id}/enable',
  operationId: 'enableScript',
  summary: 'Enable a script',
  tag,
  access: { right: 'scripts.enable' },
  parameters,
  responses: { 200: shown },
  handle: async (call, services) => {
    const { id: scriptId } = call.parameters;
    const outcome = await commandScript(call, services, { type: 'EnableScript', scriptId });
    return isProblem(outcome) ? outcome : await showScript(call, scriptId, services, outcome);
  },
});

const disable = operation({
  method: 'post',
  path: '/api/v1/scripts/{id}/disable',
  operationId: 'disableScript',
  summary: 'Disable a script',
  tag,
  access: { right: 'scripts.disable' },
  parameters,
  responses: { 200: shown },
  handle: async (call, services) => {
    const { id: scriptId } = call.parameters;
    const outcome = await commandScript(call, services, { type: 'DisableScript', scriptId });
    return isProblem(outcome) ? outcome : await showScript(call, scriptId, services, outcome);
  },
});

export const scriptOperations: readonly Operation[] = [
  list,
  create,
  get,
  change,
  remove,
  enable,
  disable,
];
