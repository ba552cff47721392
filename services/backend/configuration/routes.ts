/** Exports and imports the configuration as one document. */
import { readFile } from 'node:fs/promises';
import { createSemaphore } from '#infra/objects/semaphore.ts';
import Type from 'typebox';
import { attachment } from '../http/download.ts';
import { operation, type Operation } from '../http/operation.ts';
import { atParameter, momentOf } from '../http/point-in-time.ts';
import { isProblem } from '../http/problem.ts';
import { disclosing, json, stream } from '../http/reply.ts';
import { spoolToFile, toAsyncIterable, type SpooledFile } from '../http/wire/spool.ts';
import { exportAt } from './document-at.ts';
import { exportConfiguration, maxDocumentBytes, parseDocument } from './document.ts';
import { importConfiguration } from './import.ts';
import { Configuration, ConfigurationImport, emptyConfiguration } from './schema.ts';
import { Exact } from '../http/schema.ts';
import { importJson } from './view.ts';

const tag = 'System';
const path = '/api/v1/system/config';

/** Limits imports to one at a time, because each import holds its document in memory. */
const oneAtATime = createSemaphore(1);
const access = { right: 'system.manage' } as const;

const exportAll = operation({
  method: 'get',
  path,
  operationId: 'exportConfiguration',
  summary: 'Export the configuration as one document',
  description:
    'Contains groups, secret stores, pools, scripts with their files, channels, rules, calendars, schedules, ' +
    'webhooks, chains and ' +
    'retention. The same configuration always produces the same document. Secrets are listed by ' +
    'name only, and tokens are omitted. To save accounts and history, create a backup. With `at`, ' +
    'exports the state at that point in time, except scripts that were purged since then.',
  tag,
  access,
  query: Exact({
    at: atParameter,
    files: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether to include the files of scripts.' }),
    ),
  }),
  responses: {
    200: { description: 'The document.', schema: Configuration, headers: ['Content-Disposition'] },
  },
  refusals: ['payload_too_large'],
  handle: async ({ query: { at, files = true } }, services) => {
    const moment = at === undefined ? undefined : await momentOf(at, services);
    if (isProblem(moment)) return moment;
    const chunks =
      moment === undefined
        ? await exportConfiguration(files, services)
        : await exportAt(moment, files, services);
    if (isProblem(chunks)) return chunks;
    const document = stream(200, 'application/json; charset=utf-8', chunks, {
      'Content-Disposition': attachment('configuration.json'),
      'Cache-Control': 'no-store',
    });
    const contents = files ? 'with files' : 'without files';
    const detail = at === undefined ? contents : `${contents}, as of ${at}`;
    return disclosing(document, { action: 'configuration_exported', detail });
  },
});

const importAll = operation({
  method: 'post',
  path,
  operationId: 'importConfiguration',
  summary: 'Import a configuration (all or nothing)',
  description:
    'Items are matched by ID. Items that the document omits stay unchanged. With `prune`, omitted ' +
    'items are deleted, but only in sections that the document contains. Importing the same ' +
    'document again changes ' +
    'nothing. With `dry_run`, nothing is changed and the response lists the planned changes. A document may be at ' +
    'most 100 MiB in size.',
  tag,
  access,
  query: Exact({
    dry_run: Type.Optional(Type.Boolean({ default: false })),
    prune: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether to delete items that the document omits.',
      }),
    ),
  }),
  body: {
    schema: Configuration,
    example: emptyConfiguration,
    bytesOnly: true,
    rawMaxBytes: maxDocumentBytes,
    rawMediaTypes: ['application/json'],
  },
  responses: {
    200: {
      description: 'The planned or applied changes.',
      schema: ConfigurationImport,
      headers: ['Orch-Position'],
    },
  },
  refusals: [
    'malformed_json',
    'channel_in_use',
    'group_in_use',
    'calendar_in_use',
    'pool_in_use',
    'invalid_path',
    'last_file',
    'managed_by_repository',
    'storage_full',
    'storage_quota_exceeded',
    'unavailable',
    'version_mismatch',
  ],
  handle: async ({ query, raw, context, origin }, services) => {
    const { dry_run: dryRun = false, prune = false } = query;
    const file = await spoolToFile(raw?.chunks ?? toAsyncIterable(new Uint8Array()));
    const done = await oneAtATime(async () => {
      const document = parseDocument(await takeFile(file));
      if (isProblem(document)) return document;
      return await importConfiguration({ document, dryRun, prune, origin, context }, services);
    });
    if (isProblem(done)) return done;
    const { position } = done;
    const headers = position === undefined ? {} : { 'Orch-Position': String(position) };
    return json(200, importJson(done, dryRun), headers);
  },
});

async function takeFile(file: SpooledFile): Promise<Uint8Array> {
  try {
    return await readFile(file.path);
  } finally {
    await file.remove();
  }
}

export const configurationOperations: readonly Operation[] = [exportAll, importAll];
