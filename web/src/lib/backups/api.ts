import { readApiError } from '#lib/api/api-error.ts';
import { client, sendAuthorized, unwrap } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type { Backup, BackupSchedule, BackupScheduleChange, Page } from '#lib/api/types.ts';

const of = (id: string) => ({ path: { backup_id: id } });

export function listBackups(cursor: string | null): Promise<Page<Backup>> {
  const query = cursor ? { cursor } : {};
  return unwrap(client.GET('/api/v1/backups', { params: { query } }));
}

/** Starts a backup. The server creates it in the background. */
export function makeBackup(): Promise<Backup> {
  const params = { header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/backups', { params }));
}

/** Starts a verification. The backup's status shows the outcome. */
export function verifyBackup(id: string): Promise<Backup> {
  return unwrap(client.POST('/api/v1/backups/{backup_id}/verify', { params: of(id) }));
}

/** Restores a backup. The service restarts with the restored data. */
export function restoreBackup(id: string): Promise<Backup> {
  return unwrap(client.POST('/api/v1/backups/{backup_id}/restore', { params: of(id) }));
}

export async function deleteBackup(id: string): Promise<void> {
  await unwrap(client.DELETE('/api/v1/backups/{backup_id}', { params: of(id) }));
}

/** Requests the backup file. Stream the response, because the file may be too large for memory. */
export async function downloadBackup(id: string): Promise<Response> {
  const response = await sendAuthorized(new Request(`/api/v1/backups/${id}/download`));
  if (!response.ok) throw await readApiError(response);
  return response;
}

/** Uploads a backup that was downloaded earlier. The server verifies the file before it responds. */
export async function uploadBackup(file: File): Promise<void> {
  const headers = { 'Content-Type': 'application/x-tar' };
  const response = await sendAuthorized(
    () => new Request('/api/v1/backups/upload', { method: 'POST', headers, body: file }),
  );
  if (!response.ok) throw await readApiError(response);
}

export function getBackupSchedule(): Promise<BackupSchedule> {
  return unwrap(client.GET('/api/v1/backups/schedule', {}));
}

export function putBackupSchedule(body: BackupScheduleChange): Promise<BackupSchedule> {
  return unwrap(client.PUT('/api/v1/backups/schedule', { body }));
}
