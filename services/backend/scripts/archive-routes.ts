/** Exports and imports scripts as zip archives. */
import { mustParse, parseScriptId } from '#domain/kernel/ids.ts';
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
  summary: 'Export the files of a script as a zip archive',
  description:
    'Exporting the same version always returns identical bytes. The `ETag` is the version. The archive contains neither ' +
    'secrets nor their names.',
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
    304: { description: 'Not modified.' },
  },
  handle: async ({ principal, parameters, header }, { readModels, objects }) => {
    const script = await visibleScript(principal, parameters.id, readModels);
    if (script === undefined) return notFound;
    const { version } = script;
    const headers = { ETag: etag(version) };
    if (isUnchanged(header('If-None-Match'), String(version))) return nothing(304, headers);
    const files = await listFiles(readModels, mustParse(parseScriptId, script.script_id), {
      version,
    });
    const chunks = zipOf(
      files.map(({ path, sha256, size_bytes: sizeBytes, saved_at: savedAt }) => ({
        path,
        sizeBytes,
        savedAt,
        open: async () => {
          const content = await objects.getStream(objectKey.scriptBlob(script.script_id, sha256));
          if (content === undefined) throw new Error(`content ${sha256} is missing`);
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

/** The script's name, with characters that are invalid in file names replaced. */
function fileNameOf(name: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are replaced
  return name.replaceAll(/[\u0000-\u001f\u007f/\\:*?"<>|]/g, '_').trim();
}

const importOne = operation({
  method: 'post',
  path: '/api/v1/scripts/import',
  operationId: 'importScript',
  summary: 'Import a script from a zip archive (all or nothing)',
  description:
    'Send the archive as the body (`application/zip`), as the form field `file` (`multipart/form-data`), ' +
    'or as base64 in JSON. Limits: 10,000 entries, 100 MiB unpacked, 10 MiB per file. A single top-level ' +
    'folder is removed if it contains the entry point. Names are case-sensitive. The import is rejected ' +
    'if the archive contains links, devices, encrypted entries, duplicate names, names that are not ' +
    'UTF-8, or paths outside the folder. Empty folders and macOS metadata are skipped. The name of the ' +
    'script is `name`, the name of the uploaded file, or the name of the folder.',
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
