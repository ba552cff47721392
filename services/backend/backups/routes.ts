/** Manages backups. A scheduler creates, verifies and restores them in the background. */
import type { BackupCommand } from '#domain/backup/commands.ts';
import { mustParse, parseBackupId } from '#domain/kernel/ids.ts';
import { downloadOf, storedBackup } from '#infra/backup/files.ts';
import { findBackup, listBackups, type BackupRow } from '#projections/backups/queries.ts';
import Type from 'typebox';
import { attachment } from '../http/download.ts';
import { operation, type Call, type Operation } from '../http/operation.ts';
import { accepted, noContent, positionHeader, writtenId } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply, onePage } from '../http/paging.ts';
import { isProblem, notFound, problem } from '../http/problem.ts';
import { disclosing, json, stream, type Answer } from '../http/reply.ts';
import { Exact, pageQuery, pathParameters } from '../http/schema.ts';
import type { Services } from '../services.ts';
import { Backup, BackupPage } from './schema.ts';
import { maxUploadBytes, uploadBackup } from './upload-backup.ts';

const tag = 'Backups';
const path = '/api/v1/backups';
const access = { right: 'backups.manage' } as const;
const parameters = { backup_id: pathParameters.backupId };
const onItsWay = {
  202: {
    description: 'Started. Poll the backup for its status.',
    schema: Backup,
    headers: ['Orch-Position'],
  },
} as const;

const list = operation({
  method: 'get',
  path,
  operationId: 'listBackups',
  summary: 'List backups, newest first',
  tag,
  access,
  query: Exact(pageQuery),
  responses: onePage(BackupPage),
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
  summary: 'Create a backup',
  description:
    'Creates a consistent snapshot of all events and their data while the services are running. ' +
    'The backup is ' +
    'encrypted if `ORCH_BACKUP_KEY` is set.',
  tag,
  access,
  creates: true,
  responses: onItsWay,
  handle: async ({ context }, services) => {
    const backupId = mustParse(parseBackupId, services.ids.next());
    const command = { type: 'StartBackup', backupId, kind: 'manual' } as const;
    return await executeCommand(command, context, services);
  },
});

const get = operation({
  method: 'get',
  path: `${path}/{backup_id}`,
  operationId: 'getBackup',
  summary: 'Read the status of a backup',
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
    'An archive for `node services/cli/main.ts backup restore`. Only the master key can decrypt ' +
    'the secrets in the archive.',
  tag,
  access,
  parameters,
  responses: {
    200: {
      description: 'The archive.',
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
  summary: 'Upload a downloaded backup',
  description:
    'The body is the file from `GET /backups/{backup_id}/download`. The file is verified before it is ' +
    'listed. Damaged or truncated files and files from newer versions are rejected and not stored. An ' +
    'encrypted backup is decrypted and checked later by a scheduler (`verifying`).',
  tag,
  access,
  body: {
    schema: Exact({}),
    example: {},
    bytesOnly: true,
    rawMaxBytes: maxUploadBytes,
    rawMediaTypes: ['application/x-tar'],
  },
  responses: { 201: { description: 'The backup can be restored.', schema: Backup } },
  refusals: ['already_exists', 'backup_damaged', 'backup_in_use', 'backup_newer', 'storage_full'],
  handle: async ({ raw, context }, services) => {
    const id = raw === undefined ? noFile : await uploadBackup(raw.chunks, context, services);
    if (isProblem(id)) return id;
    const row = await findBackup(services.readModels, id);
    return row === undefined ? notFound : json(201, backupJson(row));
  },
});

const noFile = problem('validation_failed', 'The body contains no file.');

const verify = operation({
  method: 'post',
  path: `${path}/{backup_id}/verify`,
  operationId: 'verifyBackup',
  summary: 'Verify all data in a backup against its checksums',
  description:
    'If verification fails, `problem` describes the damage. Otherwise `verified_at` is updated.',
  tag,
  access,
  parameters,
  responses: onItsWay,
  refusals: ['backup_not_complete'],
  handle: async ({ parameters: { backup_id: backupId }, context }, services) =>
    await executeCommand({ type: 'CheckBackup', backupId }, context, services),
});

const restore = operation({
  method: 'post',
  path: `${path}/{backup_id}/restore`,
  operationId: 'restoreBackup',
  summary: 'Restore a backup, replacing all current data',
  description:
    'All changes since the backup are lost. The services stop, the restore completes entirely or not at ' +
    'all, and the services restart. All users must sign in again. If no supervisor runs the services, an ' +
    'operator restores the backup from the command line.',
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
        'Stop the services, then restore the backup from the command line: node ' +
          'services/cli/main.ts backup ' +
          'restore.',
      );
    }
    return await executeCommand({ type: 'RequestRestore', backupId }, context, services);
  },
});

const remove = operation({
  method: 'delete',
  path: `${path}/{backup_id}`,
  operationId: 'deleteBackup',
  summary: 'Delete a backup permanently',
  tag,
  access,
  parameters,
  responses: { 204: { description: 'The backup was deleted.', headers: ['Orch-Position'] } },
  refusals: ['backup_in_use'],
  handle: async ({ parameters: { backup_id: backupId }, context }, { commands, readModels }) => {
    if ((await findBackup(readModels, backupId)) === undefined) return notFound;
    return noContent(await commands.execute({ type: 'DeleteBackup', backupId }, context));
  },
});

async function executeCommand(
  command: BackupCommand,
  context: Call['context'],
  { commands, readModels }: Services,
): Promise<Answer> {
  const outcome = accepted(await commands.execute(command, context));
  if (isProblem(outcome)) return outcome;
  const id = writtenId(outcome, parseBackupId);
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
