/** Lists and downloads run artifacts. */
import type { RunId } from '#domain/kernel/ids.ts';
import { objectKey, objectPrefix } from '#domain/ports/object-keys.ts';
import type { ObjectInfo } from '#domain/ports/objects.ts';
import Type from 'typebox';
import { visibleRun } from '../access/visibility.ts';
import { download, downloadResponses } from '../http/download.ts';
import { etag, isUnchanged } from '../http/conditional.ts';
import { operation, type Operation } from '../http/operation.ts';
import { defaultLimit, keyOf, pageReply, onePage } from '../http/paging.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { disclosing, nothing } from '../http/reply.ts';
import { Exact, isArtifactPath, pageQuery, pathParameters } from '../http/schema.ts';
import { ArtifactPage } from '../runs/schema.ts';
import type { Services } from '../services.ts';

const tag = 'Runs';

const list = operation({
  method: 'get',
  path: '/api/v1/runs/{run_id}/artifacts',
  operationId: 'listArtifacts',
  summary: 'List the artifacts of a run, by path',
  tag,
  access: { right: 'runs.read' },
  parameters: { run_id: pathParameters.runId },
  query: Exact({
    ...pageQuery,
    // The limit is high, because cursors contain paths, and paths may be long.
    cursor: Type.Optional(Type.String({ maxLength: 2048, pattern: '^[\\w-]*$' })),
  }),
  responses: onePage(ArtifactPage),
  handle: async ({ principal, parameters: { run_id: runId }, query, url }, services) => {
    if ((await visibleRun(principal, runId, services.readModels)) === undefined) return notFound;
    const { limit, cursor } = query;
    const request = { list: 'artifacts', filter: runId, url, limit, cursor };
    const after = keyOf(request, (path) => (isArtifactPath(path) ? path : undefined));
    if (isProblem(after)) return after;
    const rows = await listed(runId, after.key, (limit ?? defaultLimit) + 1, services);
    return pageReply(request, rows, pathOf, (info) => ({
      path: pathOf(info),
      size_bytes: info.sizeBytes,
      etag: info.etag,
      updated_at: new Date(info.modifiedAtMs),
    }));
  },
});

async function listed(
  runId: RunId,
  after: string | undefined,
  limit: number,
  { objects }: Services,
): Promise<readonly ObjectInfo[]> {
  const rows: ObjectInfo[] = [];
  const options = after === undefined ? {} : { after: objectKey.runArtifact(runId, after) };
  for await (const info of objects.list(objectPrefix.runArtifacts(runId), options)) {
    rows.push(info);
    if (rows.length === limit) break;
  }
  return rows;
}

function pathOf({ key }: ObjectInfo): string {
  return key.split('/').slice(3).join('/');
}

const get = operation({
  method: 'get',
  path: '/api/v1/runs/{run_id}/artifacts/{path}',
  operationId: 'getArtifact',
  summary: 'Download an artifact of a run',
  tag,
  access: { right: 'runs.read' },
  parameters: { run_id: pathParameters.runId, path: pathParameters.artifactPath },
  requestHeaders: ['If-None-Match'],
  responses: downloadResponses,
  handle: async ({ principal, parameters: { run_id, path }, header }, services) => {
    const { objects, readModels } = services;
    if ((await visibleRun(principal, run_id, readModels)) === undefined) return notFound;
    const key = objectKey.runArtifact(run_id, path);
    const info = await objects.head(key);
    if (info === undefined) return notFound;
    const headers = { ETag: etag(info.etag) };
    if (isUnchanged(header('If-None-Match'), info.etag)) return nothing(304, headers);
    const chunks = await objects.getStream(key);
    if (chunks === undefined) return notFound;
    // The response has no Content-Length, because the run may have rewritten the file after its size was read.
    return disclosing(download(path, chunks, headers), {
      action: 'artifact_downloaded',
      detail: path,
    });
  },
});

export const artifactOperations: readonly Operation[] = [list, get];
