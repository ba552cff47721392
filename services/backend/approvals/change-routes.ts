/** Reads and rebases the content of requested changes. */
import { mustParse, parseChangeId, parseScriptId } from '#domain/kernel/ids.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import { applyEdits } from '#domain/script/decide.ts';
import { proposed, restores, type KnownScript } from '#domain/script/change.ts';
import {
  findApproval,
  type ApprovalId,
  type ApprovalView,
} from '#projections/approvals/queries.ts';
import { approvalRequest } from '#services/shared/approval-requests.ts';
import { visibleApproval } from '../access/visibility.ts';
import { download, downloadResponses } from '../http/download.ts';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, positionHeader, refusalProblem } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageOf } from '../http/paging.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters } from '../http/schema.ts';
import {
  changedPaths,
  changedSettings,
  diffOf,
  fileJson,
  noVersion,
  scriptOfVersion,
} from '../scripts/history/diff.ts';
import { wireName } from '../scripts/history/schema.ts';
import type { Services } from '../services.ts';
import { ChangeDiff, decided } from './schema.ts';
import { approvalReply } from './view.ts';

const tag = 'Scripts';
const path = '/api/v1/approvals/{approval_id}';
const parameters = { approval_id: pathParameters.approvalId };

const diff = operation({
  method: 'get',
  path: `${path}/diff`,
  operationId: 'diffApproval',
  summary: 'Compare a requested change with the version that it applies to',
  description:
    'Shows files as unified diffs, and changed settings. If the change restores a deleted script, the setting ' +
    '`deleted` changes to `false`, and all files are listed as added.',
  tag,
  access: { right: 'files.read' },
  parameters,
  query: Exact(pageQuery),
  responses: { 200: { description: 'One page of files.', schema: ChangeDiff, headers: ['Link'] } },
  handle: async ({ principal, parameters: { approval_id: id }, query, url }, services) => {
    const { limit = defaultLimit, cursor } = query;
    const request = { list: 'approval-diff', filter: id, url, limit, cursor };
    const start = keyOf(request, (text) => text);
    if (isProblem(start)) return start;
    const row = await visibleApproval(principal, id, services.readModels);
    const versions = row && (await versionsOf(row, services));
    if (row === undefined || versions === undefined) return noChange;
    if (isProblem(versions)) return versions;
    const { before, after } = versions;
    const isRestored = restores(row.change?.edits ?? []);
    // A deleted script's files do not run. The approver of a restore must therefore review all of them.
    const present = isRestored ? { ...before, files: new Map() } : before;
    const changed = changedPaths(present, after, start.key);
    const shown = changed.slice(0, limit);
    const { objects } = services;
    const scriptId = mustParse(parseScriptId, row.script_id);
    const files = await Promise.all(
      shown.map(async (each) => ({
        ...fileJson(each),
        ...(await diffOf(objects, scriptId, each)),
      })),
    );
    const next = changed.length > limit ? (shown.at(-1)?.path ?? null) : null;
    const { body, headers } = pageOf(request, files, next);
    const page = body.kind === 'json' ? (body.value as object) : {};
    const settings = changedSettings(before, after).map((each) => ({
      ...each,
      name: wireName(each.name),
    }));
    const restored = isRestored ? [{ name: 'deleted', before: true, after: false }] : [];
    const all = [...restored, ...settings];
    return json(200, { from: row.script_version, settings: all, ...page }, headers);
  },
});

const file = operation({
  method: 'get',
  path: `${path}/files/{path}`,
  operationId: 'getApprovalFile',
  summary: 'Download a file from a requested change',
  tag,
  access: { right: 'files.read' },
  parameters: { ...parameters, path: pathParameters.filePath },
  responses: downloadResponses,
  refusals: ['content_removed'],
  handle: async ({ principal, parameters: { approval_id: id, path: name } }, services) => {
    const row = await visibleApproval(principal, id, services.readModels);
    const versions = row && (await versionsOf(row, services));
    if (row === undefined || versions === undefined) return noChange;
    if (isProblem(versions)) return versions;
    const wanted = versions.after.files.get(name);
    if (wanted === undefined) return notFound;
    const key = objectKey.scriptBlob(row.script_id, wanted.sha256);
    const chunks = await services.objects.getStream(key);
    return chunks === undefined
      ? problem('content_removed', 'The content of the file was deleted.')
      : download(name, chunks, { 'Content-Length': String(wanted.sizeBytes) });
  },
});

const noChange = problem('not_found', 'Requested change not found.');

/** The script before and after a requested change, starting from the version that the change is based on;
 *  `undefined` for the approval of a run. */
async function versionsOf(
  { script_id: id, script_version: version, change }: ApprovalView,
  { database }: Services,
): Promise<{ readonly before: KnownScript; readonly after: KnownScript } | Problem | undefined> {
  if (change === null) return undefined;
  const scriptId = mustParse(parseScriptId, id);
  const known = await scriptOfVersion(database, scriptId, version);
  if (known === undefined) return noVersion;
  // Applies the edits even if the script is deleted.
  const before: KnownScript = { ...known, status: 'present' };
  const decision = applyEdits(before, scriptId, change.edits, { groupExists: true });
  return decision.kind === 'refused'
    ? refusalProblem(decision.refusal)
    : { before, after: proposed(before, decision.events) };
}

const rebase = operation({
  method: 'post',
  path: `${path}/rebase`,
  operationId: 'rebaseApproval',
  summary: 'Move a requested change to the current version of the script',
  description:
    'The approver then compares the change with the current version. Refused if the same file of the script has ' +
    'changed since. The request expires seven days later.',
  tag,
  access: { right: 'scripts.write' },
  parameters,
  responses: decided,
  refusals: ['approval_not_pending', 'approval_outdated'],
  handle: async (call, services) => {
    const { principal, context } = call;
    const id: ApprovalId = call.parameters.approval_id;
    const row = await visibleApproval(principal, id, services.readModels);
    if (row === undefined || row.change === null) return noChange;
    const command = {
      type: 'RebaseChange',
      scriptId: mustParse(parseScriptId, row.script_id),
      changeId: mustParse(parseChangeId, row.approval_id),
      expiresAt: approvalRequest(context, services.clock).expiresAt,
      at: services.clock.now().toISOString(),
    } as const;
    const outcome = accepted(await services.commands.execute(command, context));
    if (isProblem(outcome)) return outcome;
    const after = await findApproval(services.readModels, id);
    return after === undefined
      ? notFound
      : await approvalReply(200, after, principal, services, positionHeader(outcome));
  },
});

export const approvalChangeOperations: readonly Operation[] = [diff, file, rebase];
