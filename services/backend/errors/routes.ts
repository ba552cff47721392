/** Manages error groups, which combine failed runs with the same error. */
import type { ErrorGroupCommand } from '#domain/error-group/commands.ts';
import { mustParse, parseRunId, parseScriptId, type ErrorGroupId } from '#domain/kernel/ids.ts';
import {
  findErrorGroup,
  listErrorGroups,
  type ErrorGroupRow,
} from '#projections/error-groups/queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import { listRuns } from '#projections/runs/lists.ts';
import { findScript } from '#projections/scripts/queries.ts';
import Type, { type Static } from 'typebox';
import { visibleGroups } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, positionHeader } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply } from '../http/paging.ts';
import { isProblem, notFound, problem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pageQuery, pathParameters, Time, Uuid } from '../http/schema.ts';
import { RunPage } from '../runs/schema.ts';
import { runsJson } from '../runs/view.ts';
import { ErrorGroup, ErrorGroupChange, ErrorGroupPage, ErrorGroupStatusSchema } from './schema.ts';
import { errorGroupsJson } from './view.ts';

const tag = 'Runs';
const path = '/api/v1/error-groups';
const parameters = { error_group_id: pathParameters.errorGroupId };

const list = operation({
  method: 'get',
  path,
  operationId: 'listErrorGroups',
  summary: 'List error groups, most recent first',
  description:
    'A group contains all failed runs with the same error: the same exception types, raised at ' +
    'the same place in the script.',
  tag,
  access: { right: 'runs.read' },
  query: Type.Object(
    {
      ...pageQuery,
      status: Type.Optional(ErrorGroupStatusSchema),
      script_id: Type.Optional(Uuid()),
      since: Type.Optional(Time('Only groups whose last error occurred at or after this time.')),
      q: Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'Matches part of the type or message of the last error, ignoring case.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  responses: {
    200: { description: 'One page of the list.', schema: ErrorGroupPage, headers: ['Link'] },
  },
  handle: async ({ principal, query, url }, services) => {
    const { limit, cursor, status, script_id: scriptId, since, q } = query;
    const filter = {
      groupIds: visibleGroups(principal),
      scriptId: scriptId === undefined ? null : mustParse(parseScriptId, scriptId),
      status: status ?? null,
      since: since === undefined ? null : new Date(since),
      text: q ?? null,
    };
    const request = { list: 'error groups', filter, url, limit, cursor };
    const after = keyOf(request, parseRunId);
    if (isProblem(after)) return after;
    const most = (limit ?? defaultLimit) + 1;
    const rows = await listErrorGroups(services.readModels, filter, after.key, most);
    const items = await errorGroupsJson(rows, services);
    return pageReply(
      request,
      items,
      (item) => item.last_run_id,
      (item) => item,
    );
  },
});

const get = operation({
  method: 'get',
  path: `${path}/{error_group_id}`,
  operationId: 'getErrorGroup',
  summary: 'Read an error group',
  tag,
  access: { right: 'runs.read' },
  parameters,
  responses: { 200: { description: 'The group.', schema: ErrorGroup } },
  handle: async ({ principal, parameters: { error_group_id: id } }, services) => {
    const row = await findErrorGroup(services.readModels, visibleGroups(principal), id);
    if (row === undefined) return notFound;
    const [body] = await errorGroupsJson([row], services);
    return json(200, body);
  },
});

const runs = operation({
  method: 'get',
  path: `${path}/{error_group_id}/runs`,
  operationId: 'listErrorGroupRuns',
  summary: 'List the runs of an error group, newest first',
  tag,
  access: { right: 'runs.read' },
  parameters,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  responses: { 200: { description: 'One page of the list.', schema: RunPage, headers: ['Link'] } },
  handle: async ({ principal, parameters: { error_group_id: id }, query, url }, services) => {
    const { readModels } = services;
    const groupIds = visibleGroups(principal);
    if ((await findErrorGroup(readModels, groupIds, id)) === undefined) return notFound;
    const { limit, cursor } = query;
    const request = { list: 'error group runs', filter: { id, groupIds }, url, limit, cursor };
    const after = keyOf(request, parseRunId);
    if (isProblem(after)) return after;
    const most = (limit ?? defaultLimit) + 1;
    const rows = await listRuns(readModels, { groupIds, errorGroupId: id }, after.key, most);
    const items = await runsJson(rows, services);
    return pageReply(
      request,
      items,
      (item) => item.run_id,
      (item) => item,
    );
  },
});

const change = operation({
  method: 'patch',
  path: `${path}/{error_group_id}`,
  operationId: 'changeErrorGroup',
  summary: 'Resolve, ignore or reopen an error group',
  description:
    'A resolved group reopens when the error occurs again in a later run. With ' +
    '`resolved_in_version`, runs of earlier versions of the script do not reopen the group. A ' +
    'group that several scripts share can only be resolved without a version, because version ' +
    'numbers differ between scripts.',
  tag,
  access: { right: 'runs.start' },
  parameters,
  body: {
    schema: ErrorGroupChange,
    example: { status: 'resolved', resolved_in_version: 4 },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: {
    200: { description: 'The updated group.', schema: ErrorGroup, headers: ['Orch-Position'] },
  },
  handle: async ({ principal, parameters: { error_group_id: id }, body, context }, services) => {
    const groupIds = visibleGroups(principal);
    const group = await findErrorGroup(services.readModels, groupIds, id);
    if (group === undefined) return notFound;
    const wrong =
      misplaced(body, services.clock.now()) ??
      (await versionProblem(body, group, services.readModels));
    if (wrong !== undefined) return problem('validation_failed', wrong);
    const command = commandOf(id, body, group);
    const outcome = accepted(await services.commands.execute(command, context));
    if (isProblem(outcome)) return outcome;
    const row = await findErrorGroup(services.readModels, groupIds, id);
    if (row === undefined) return notFound;
    const [item] = await errorGroupsJson([row], services);
    return json(200, item, positionHeader(outcome));
  },
});

type Change = Static<typeof ErrorGroupChange>;

/** Describes a field of the request that does not fit the requested status. */
function misplaced(
  { status, resolved_in_version, ignored_until }: Change,
  now: Date,
): string | undefined {
  if (resolved_in_version != null && status !== 'resolved') {
    return '`resolved_in_version` requires the status `resolved`.';
  }
  if (ignored_until != null && status !== 'ignored') {
    return '`ignored_until` requires the status `ignored`.';
  }
  if (ignored_until != null && new Date(ignored_until) <= now) {
    return '`ignored_until` is in the past.';
  }
  return undefined;
}

/** The problem with the version in which an error is resolved. The script's next version is valid, even though it
 *  does not exist yet. */
async function versionProblem(
  { resolved_in_version: version }: Change,
  { script_ids: [scriptId, ...others], last_version }: ErrorGroupRow,
  readModels: ReadModels,
): Promise<string | undefined> {
  if (version == null || scriptId === undefined) return undefined;
  if (others.length > 0) {
    return (
      `${others.length + 1} scripts have this error, and each script has its own version numbers. ` +
      `Resolve the error without \`resolved_in_version\`.`
    );
  }
  const script = await findScript(readModels, mustParse(parseScriptId, scriptId));
  const next = (script?.version ?? last_version) + 1;
  return version <= next
    ? undefined
    : `\`resolved_in_version\` is at most ${next}, the next version of the script.`;
}

function commandOf(
  errorGroupId: ErrorGroupId,
  { status, resolved_in_version: version = null, ignored_until: until = null }: Change,
  { script_ids: [scriptId] }: ErrorGroupRow,
): ErrorGroupCommand {
  switch (status) {
    case 'resolved': {
      const isOfScript = version !== null && scriptId !== undefined;
      const script = isOfScript && { scriptId: mustParse(parseScriptId, scriptId) };
      return { type: 'ResolveErrorGroup', errorGroupId, version, ...script };
    }
    case 'ignored':
      return { type: 'IgnoreErrorGroup', errorGroupId, until };
    case 'open':
      return { type: 'ReopenErrorGroup', errorGroupId, runId: null, scriptId: null, version: null };
  }
}

export const errorOperations: readonly Operation[] = [list, get, runs, change];
