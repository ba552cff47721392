/** Scripts as zip archives, out and in. */
import { known, parseScriptId } from '#domain/kernel/ids.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import { listFiles } from '#projections/scripts/files.ts';
import Type from 'typebox';
import { visibleScript } from '../access/visibility.ts';
import { zipOf } from '../http/archives/write-zip.ts';
import { attachment } from '../http/download.ts';
import { etag, isUnchanged } from '../http/conditional.ts';
import { operation, type Operation } from '../http/operation.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { disclosing, nothing, stream } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { importScript, maxArchiveBytes } from './import-script.ts';
import { created, showScript } from './script-reply.ts';
import { archiveQuery, ScriptArchive } from './schema.ts';

const tag = 'Scripts';

const exportOne = operation({
  method: 'get',
  path: '/api/v1/scripts/{id}/export',
  operationId: 'exportScript',
  summary: 'Download the files of a script as a zip archive',
  description:
    'The same version gives the same bytes. The `ETag` is the version. Secrets are never in it, nor are ' +
    'their names.',
  tag,
  access: { right: 'scripts.write' },
  parameters: { id: pathParameters.scriptId },
  requestHeaders: ['If-None-Match'],
  responses: {
    200: {
      description: 'The archive.',
      schema: Type.String({ format: 'binary' }),
      mediaType: 'application/zip',
      headers: ['ETag', 'Content-Disposition'],
    },
    304: { description: 'Unchanged.' },
  },
  handle: async ({ principal, parameters, header }, { readModels, objects }) => {
    const script = await visibleScript(principal, parameters.id, readModels);
    if (script === undefined) return notFound;
    const { version } = script;
    const headers = { ETag: etag(version) };
    if (isUnchanged(header('If-None-Match'), String(version))) return nothing(304, headers);
    const files = await listFiles(readModels, known(parseScriptId, script.script_id), { version });
    const chunks = zipOf(
      files.map(({ path, sha256, size_bytes: sizeBytes, saved_at: savedAt }) => ({
        path,
        sizeBytes,
        savedAt,
        open: async () => {
          const content = await objects.getStream(objectKey.scriptBlob(script.script_id, sha256));
          if (content === undefined) throw new Error(`the content of ${sha256} is missing`);
          return content;
        },
      })),
    );
    const archive = stream(200, 'application/zip', chunks, {
      ...headers,
      'Content-Disposition': attachment(`${fileNameOf(script.name)}.zip`),
      'Cache-Control': 'private, no-cache',
    });
    return disclosing(archive, { action: 'script_exported', detail: `version ${version}` });
  },
});

/** The script's name without what file systems refuse. */
function fileNameOf(name: string): string {
  // oxlint-disable-next-line no-control-regex -- those are what is taken out
  return name.replaceAll(/[\u0000-\u001f\u007f/\\:*?"<>|]/g, '_').trim();
}

const importOne = operation({
  method: 'post',
  path: '/api/v1/scripts/import',
  operationId: 'importScript',
  summary: 'Create a script from a zip archive, all of it or nothing',
  description:
    'The archive is the body itself (`application/zip`), the field `file` of a form ' +
    '(`multipart/form-data`) or base64 in JSON. At most 10,000 entries and 100 MiB unpacked, 10 MiB a ' +
    'file. A folder that holds everything is left out where the entrypoint lies in it. Names are taken ' +
    'byte for byte, so two that differ in case are two files. Refused as a whole: links, devices, ' +
    'encrypted entries, names that are not UTF-8 or leave the folder, a name that is there twice. Left ' +
    'out: empty folders and what macOS adds. The name is `name`, or that of the uploaded file, or of the ' +
    'folder.',
  tag,
  access: { right: 'scripts.write' },
  creates: true,
  query: archiveQuery,
  body: {
    schema: ScriptArchive,
    example: {
      content:
        'UEsDBBQAAAAAAAAAdV18h5YpDwAAAA8AAAAHAAAAbWFpbi5weXByaW50KCJoZWxsbyIpClBLAQIUAxQA' +
        'AAAAAAAAdV18h5YpDwAAAA8AAAAHAAAAAAAAAAAAAACkgQAAAABtYWluLnB5UEsFBgAAAAABAAEANQAA' +
        'ADQAAAAAAA==',
    },
    rawMaxBytes: maxArchiveBytes,
    rawMediaTypes: ['application/zip', 'multipart/form-data'],
  },
  responses: { 201: created },
  refusals: ['invalid_path', 'storage_quota_exceeded', 'storage_full'],
  handle: async (call, services) => {
    const made = await importScript(call, services);
    if (isProblem(made)) return made;
    return await showScript(call, made.scriptId, services, made.outcome, 201);
  },
});

export const scriptArchiveOperations: readonly Operation[] = [exportOne, importOne];
