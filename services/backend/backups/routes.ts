/** Backups: made, verified and restored behind the answer, by a scheduler. */
import type { BackupCommand } from '#domain/backup/commands.ts';
import { known, parseBackupId, type BackupId } from '#domain/kernel/ids.ts';
import { downloadOf, storedBackup } from '#infra/backup/files.ts';
import { findBackup, listBackups, type BackupRow } from '#projections/backups/queries.ts';
import Type from 'typebox';
import { attachment } from '../http/download.ts';
import { operation, type Call, type Operation } from '../http/operation.ts';
import { accepted, positionHeader, noContent } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply } from '../http/paging.ts';
import { isProblem, notFound, problem } from '../http/problem.ts';
import { disclosing, json, stream, type Answer } from '../http/reply.ts';
import { pageQuery, pathParameters } from '../http/schema.ts';
import type { Services } from '../services.ts';
import { Backup, BackupPage } from './schema.ts';
import { maxUploadBytes, uploadBackup } from './upload-backup.ts';

const tag = 'Backups';
const path = '/api/v1/backups';
const access = { right: 'backups.manage' } as const;
const parameters = { backup_id: pathParameters.backupId };
const onItsWay = {
  202: { description: 'On its way: ask again.', schema: Backup, headers: ['Orch-Position'] },
} as const;

const list = operation({
  method: 'get',
  path,
  operationId: 'listBackups',
  summary: 'List backups, newest first',
  tag,
  access,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  responses: { 200: { description: 'A page.', schema: BackupPage, headers: ['Link'] } },
  handle: async ({ query: { limit, cursor }, url }, { readModels }) => {
    const request = { list: 'backups', filter: null, url, limit, cursor };
    const after = keyOf(request, parseBackupId);
    if (isProblem(after)) return after;
    const rows = await listBackups(readModels, after.key, (limit ?? defaultLimit) + 1);
    return pageReply(request, rows, (row) => row.backup_id, backupJson);
  },
});

const make = operation({
  method: 'post',
  path,
  operationId: 'makeBackup',
  summary: 'Make a backup',
  description:
    'Of one moment, while everything goes on: all events, and what belongs to them. It is encrypted where `ORCH_BACKUP_KEY` is set.',
  tag,
  access,
  creates: true,
  responses: onItsWay,
  handle: async ({ context }, services) => {
    const backupId = known(parseBackupId, services.ids.next());
    const command = { type: 'StartBackup', backupId, kind: 'manual' } as const;
    return await carryOut(command, context, services);
  },
});

const get = operation({
  method: 'get',
  path: `${path}/{backup_id}`,
  operationId: 'getBackup',
  summary: 'Read what is known of a backup',
  tag,
  access,
  parameters,
  responses: { 200: { description: 'The backup.', schema: Backup } },
  handle: async ({ parameters: { backup_id: id } }, { readModels }) => {
    const row = await findBackup(readModels, id);
    return row === undefined ? notFound : json(200, backupJson(row));
  },
});

const download = operation({
  method: 'get',
  path: `${path}/{backup_id}/download`,
  operationId: 'downloadBackup',
  summary: 'Download a backup as one file',
  description:
    'An archive that `node services/cli/main.ts backup restore` takes. Secrets in it can be read with the master key alone.',
  tag,
  access,
  parameters,
  responses: {
    200: {
      description: 'The file.',
      schema: Type.String({ format: 'binary' }),
      mediaType: 'application/x-tar',
      headers: ['Content-Disposition'],
    },
  },
  refusals: ['backup_not_complete'],
  handle: async ({ parameters: { backup_id: id } }, { readModels, objects }) => {
    const row = await findBackup(readModels, id);
    if (row === undefined) return notFound;
    const source = row.status === 'complete' ? await storedBackup(objects, id) : undefined;
    if (source === undefined) return problem('backup_not_complete', 'The backup is not complete.');
    const { sizeBytes, chunks } = await downloadOf(source);
    const name = `backup-${source.summary.createdAt.slice(0, 16).replace(':', '')}.tar`;
    const file = stream(200, 'application/x-tar', chunks, {
      'Content-Length': String(sizeBytes),
      'Content-Disposition': attachment(name),
      'Cache-Control': 'private, no-store',
    });
    return disclosing(file, { action: 'backup_downloaded' });
  },
});

const upload = operation({
  method: 'post',
  path: `${path}/upload`,
  operationId: 'uploadBackup',
  summary: 'Take in a backup that was downloaded',
  description:
    'The file is the body itself, as `GET /backups/{backup_id}/download` gave it. It is verified before it is listed; what is damaged, was cut, or comes from a newer version is refused, and nothing of it is kept. Into one that is encrypted is looked afterwards, by a scheduler: `verifying`.',
  tag,
  access,
  body: {
    schema: Type.Object({}, { additionalProperties: false }),
    example: {},
    bytesOnly: true,
    rawMaxBytes: maxUploadBytes,
    rawMediaTypes: ['application/x-tar'],
  },
  responses: { 201: { description: 'It can be restored.', schema: Backup } },
  refusals: ['already_exists', 'backup_damaged', 'backup_in_use', 'backup_newer', 'storage_full'],
  handle: async ({ raw, context }, services) => {
    const id = raw === undefined ? noFile : await uploadBackup(raw.chunks, context, services);
    if (isProblem(id)) return id;
    const row = await findBackup(services.readModels, id);
    return row === undefined ? notFound : json(201, backupJson(row));
  },
});

const noFile = problem('validation_failed', 'There is no file in the body.');

const verify = operation({
  method: 'post',
  path: `${path}/{backup_id}/verify`,
  operationId: 'verifyBackup',
  summary: 'Read all of a backup, and compare it with what was written',
  description: 'What is wrong with it is in `problem` then; else `verified_at` is new.',
  tag,
  access,
  parameters,
  responses: onItsWay,
  refusals: ['backup_not_complete'],
  handle: async ({ parameters: { backup_id: backupId }, context }, services) =>
    await carryOut({ type: 'CheckBackup', backupId }, context, services),
});

const restore = operation({
  method: 'post',
  path: `${path}/{backup_id}/restore`,
  operationId: 'restoreBackup',
  summary: 'Put a backup in the place of all there is',
  description:
    'What happened after it was made is lost. The service stops, is restored whole or not at all, and starts again; everybody signs in anew. Where the services are not supervised, an operator does it by the command line.',
  tag,
  access,
  parameters,
  responses: onItsWay,
  refusals: ['backup_not_complete', 'restore_by_operator'],
  handle: async ({ parameters: { backup_id: backupId }, context }, services) => {
    if ((await findBackup(services.readModels, backupId)) === undefined) return notFound;
    if (services.edition !== 'minimal') {
      return problem(
        'restore_by_operator',
        'Stop the services, and restore it by the command line: node services/cli/main.ts backup restore.',
      );
    }
    return await carryOut({ type: 'RequestRestore', backupId }, context, services);
  },
});

const remove = operation({
  method: 'delete',
  path: `${path}/{backup_id}`,
  operationId: 'deleteBackup',
  summary: 'Delete a backup for good',
  tag,
  access,
  parameters,
  responses: { 204: { description: 'Deleted.', headers: ['Orch-Position'] } },
  refusals: ['backup_in_use'],
  handle: async ({ parameters: { backup_id: backupId }, context }, { commands, readModels }) => {
    if ((await findBackup(readModels, backupId)) === undefined) return notFound;
    return noContent(await commands.execute({ type: 'DeleteBackup', backupId }, context));
  },
});

async function carryOut(
  command: BackupCommand,
  context: Call['context'],
  { commands, readModels }: Services,
): Promise<Answer> {
  const outcome = accepted(await commands.execute(command, context));
  if (isProblem(outcome)) return outcome;
  // The id of the first request, where this one repeats it.
  const id: BackupId = known(parseBackupId, outcome.streamId.slice('backup-'.length));
  const row = await findBackup(readModels, id);
  return row === undefined ? notFound : json(202, backupJson(row), positionHeader(outcome));
}

function backupJson(row: BackupRow) {
  const { backup_id: id, status, kind, content, problem: fault, checking, restoring } = row;
  return {
    id,
    status,
    kind,
    position: content?.position ?? null,
    events: content?.events ?? null,
    size_bytes: content?.sizeBytes ?? null,
    sha256: content?.sha256 ?? null,
    encrypted: content?.encrypted ?? null,
    version: content?.version ?? null,
    created_at: row.created_at,
    created_by: row.created_by,
    finished_at: row.finished_at,
    verified_at: row.verified_at,
    problem: fault,
    progress: row.share,
    verifying: checking,
    restoring,
  };
}

export const backupOperations: readonly Operation[] = [
  list,
  make,
  get,
  download,
  upload,
  verify,
  restore,
  remove,
];
