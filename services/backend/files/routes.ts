/** Lists, reads, saves, deletes and moves a script's files. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import { pathProblem } from '#domain/script/path.ts';
import { maxFileBytes } from '#domain/script/settings.ts';
import { findFile, listFiles } from '#projections/scripts/files.ts';
import { visibleScript } from '../access/visibility.ts';
import { requested } from '../approvals/schema.ts';
import { requestedReply } from '../approvals/view.ts';
import { download, downloadResponses } from '../http/download.ts';
import { etag, isUnchanged } from '../http/conditional.ts';
import { operation, type Operation } from '../http/operation.ts';
import { positionHeader, noContent } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply } from '../http/paging.ts';
import { aboutCurrentGroups, atParameter } from '../http/point-in-time.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import { json, nothing, type Answer, type Reply } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters } from '../http/schema.ts';
import { fileAt, fileOfVersion, filesAt } from '../scripts/history/script-at.ts';
import { versionParameter } from '../scripts/history/schema.ts';
import { FileContent, FileMove, FilePage, SavedFile } from '../scripts/schema.ts';
import type { Services } from '../services.ts';
import { moveFile, removeFile } from './delete-file.ts';
import { saveFile, type Requested, type SaveCall, type Saved } from './save-file.ts';
import { fileJson } from './view.ts';

const tag = 'Files';
const parameters = { id: pathParameters.scriptId, path: pathParameters.filePath };

const list = operation({
  method: 'get',
  path: '/api/v1/scripts/{id}/files',
  operationId: 'listFiles',
  summary: 'List the files of a script by path, now or at a point in time',
  description: aboutCurrentGroups,
  tag,
  access: { right: 'files.read' },
  parameters: { id: pathParameters.scriptId },
  query: Exact({ ...pageQuery, at: atParameter }),
  responses: {
    200: { description: 'One page of the list.', schema: FilePage, headers: ['Link', 'ETag'] },
  },
  handle: async ({ principal, parameters: { id }, query, url }, services) => {
    const { at, limit, cursor } = query;
    const filter = at === undefined ? id : { id, at };
    const request = { list: 'files', filter, url, limit, cursor };
    const after = keyOf(request, (path) => (pathProblem(path) === undefined ? path : undefined));
    if (isProblem(after)) return after;
    const page = {
      limit: (limit ?? defaultLimit) + 1,
      ...(after.key !== undefined && { after: after.key }),
    };
    const wanted = { principal, scriptId: id };
    const found =
      at === undefined
        ? await filesNow(wanted, page, services)
        : await filesAt({ ...wanted, at }, page, services);
    if (isProblem(found)) return found;
    const reply = pageReply(request, found.files, (file) => file.path, fileJson);
    return { ...reply, headers: { ...reply.headers, ETag: etag(found.version) } };
  },
});

const get = operation({
  method: 'get',
  path: '/api/v1/scripts/{id}/files/{path}',
  operationId: 'getFile',
  summary: 'Download the current or an earlier version of a file',
  description: `The \`ETag\` is the SHA-256 of the content. ${aboutCurrentGroups}`,
  tag,
  access: { right: 'files.read' },
  parameters,
  query: Exact({
    at: atParameter,
    version: versionParameter(
      'A version of the script. Versions of deleted scripts can be read too.',
    ),
  }),
  requestHeaders: ['If-None-Match'],
  responses: downloadResponses,
  refusals: ['invalid_path', 'content_removed'],
  handle: async ({ principal, parameters: { id, path }, query, header }, services) => {
    const { at, version } = query;
    const unusable = pathProblem(path);
    if (unusable !== undefined) {
      return problem('invalid_path', `The path is not valid: ${unusable}.`);
    }
    if (at !== undefined && version !== undefined) return eitherOr;
    const wanted = { principal, scriptId: id };
    const file =
      version !== undefined
        ? await fileOfVersion({ ...wanted, version }, path, services)
        : at !== undefined
          ? await fileAt({ ...wanted, at }, path, services)
          : await fileNow(wanted, path, services);
    if (isProblem(file)) return file;
    const headers = { ETag: etag(file.sha256) };
    if (isUnchanged(header('If-None-Match'), file.sha256)) return nothing(304, headers);
    const chunks = await services.objects.getStream(objectKey.scriptBlob(id, file.sha256));
    if (chunks === undefined) {
      if (at === undefined && version === undefined) {
        throw new Error(`the content of ${file.sha256} is missing`);
      }
      return problem(
        'content_removed',
        `The requested content of the file (${file.sha256}) was removed by retention.`,
      );
    }
    return download(path, chunks, { ...headers, 'Content-Length': String(file.size_bytes) });
  },
});

const eitherOr = problem('invalid_parameter', 'Use either "at" or "version", not both.');

interface Wanted {
  readonly principal: Principal;
  readonly scriptId: ScriptId;
}

async function filesNow(
  { principal, scriptId }: Wanted,
  page: { readonly after?: string; readonly limit: number },
  { readModels }: Services,
) {
  const script = await visibleScript(principal, scriptId, readModels);
  if (script === undefined) return notFound;
  const files = await listFiles(readModels, scriptId, page);
  return { version: script.version, files };
}

async function fileNow({ principal, scriptId }: Wanted, path: string, { readModels }: Services) {
  const script = await visibleScript(principal, scriptId, readModels);
  return (script && (await findFile(readModels, scriptId, path, script.version))) ?? notFound;
}

const save = operation({
  method: 'put',
  path: '/api/v1/scripts/{id}/files/{path}',
  operationId: 'saveFile',
  summary: 'Save a file, creating a new version of the script',
  description:
    'Any content type except JSON is stored as raw bytes, up to 10 MiB. `If-Match` accepts the `ETag` of ' +
    'the file or of the script.',
  tag,
  access: { right: 'scripts.write' },
  parameters,
  requestHeaders: ['If-Match'],
  body: {
    schema: FileContent,
    example: { content: 'print("hello")\n', encoding: 'utf-8' },
    rawMaxBytes: maxFileBytes,
    anyText: true,
  },
  responses: {
    200: {
      description: 'The file was saved.',
      schema: SavedFile,
      headers: ['ETag', 'Orch-Position'],
    },
    202: requested,
  },
  refusals: [
    'approval_outdated',
    'invalid_path',
    'managed_by_repository',
    'storage_quota_exceeded',
    'version_mismatch',
    'storage_full',
  ],
  handle: async (call, services) => {
    return await fileReply(await saveFile(call, services), call, services);
  },
});

async function fileReply(
  saved: Saved | Requested | Problem,
  call: Pick<SaveCall, 'principal'>,
  services: Services,
): Promise<Answer> {
  if (isProblem(saved)) return saved;
  return 'changeId' in saved ? await requestedReply(saved, call, services) : savedReply(saved);
}

function savedReply({ file, scriptVersion, outcome }: Saved): Reply {
  return json(
    200,
    { ...fileJson(file), script_version: scriptVersion },
    { ETag: etag(file.sha256), ...positionHeader(outcome) },
  );
}

const remove = operation({
  method: 'delete',
  path: '/api/v1/scripts/{id}/files/{path}',
  operationId: 'deleteFile',
  summary: 'Delete a file, creating a new version of the script',
  description:
    'The last file of a script cannot be deleted. The entry point can be deleted. `If-Match` ' +
    'accepts the `ETag` of ' +
    'the file or of the script.',
  tag,
  access: { right: 'scripts.write' },
  parameters,
  requestHeaders: ['If-Match'],
  responses: {
    204: { description: 'The file was deleted.', headers: ['Orch-Position'] },
    202: requested,
  },
  refusals: [
    'approval_outdated',
    'invalid_path',
    'last_file',
    'managed_by_repository',
    'version_mismatch',
  ],
  handle: async (call, services) => {
    const removed = await removeFile(call, services);
    if (isProblem(removed)) return removed;
    const { changeId, outcome } = removed;
    return changeId === undefined
      ? noContent(outcome)
      : await requestedReply({ changeId, outcome }, call, services);
  },
});

const move = operation({
  method: 'post',
  path: '/api/v1/scripts/{id}/files/{path}/move',
  operationId: 'moveFile',
  summary: 'Move or rename a file',
  description:
    'The new path must not exist. If the file is the entry point, the setting is updated. `If-Match` ' +
    'accepts the `ETag` of the file or of the script.',
  tag,
  access: { right: 'scripts.write' },
  parameters,
  requestHeaders: ['If-Match'],
  body: { schema: FileMove, example: { to: 'app/main.py' } },
  responses: {
    200: {
      description: 'The file was moved.',
      schema: SavedFile,
      headers: ['ETag', 'Orch-Position'],
    },
    202: requested,
  },
  refusals: [
    'already_exists',
    'approval_outdated',
    'invalid_path',
    'managed_by_repository',
    'version_mismatch',
  ],
  handle: async (call, services) => {
    return await fileReply(await moveFile(call, services), call, services);
  },
});

export const fileOperations: readonly Operation[] = [list, get, save, remove, move];
