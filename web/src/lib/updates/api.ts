import { client, unwrap } from '#lib/api/client.ts';
import type { Update, Updates } from '#lib/api/types.ts';

export function getUpdates(): Promise<Updates> {
  return unwrap(client.GET('/api/v1/system/updates', {}));
}

/** Checks the repository for updates.
 *  @throws ApiError 409 if none is configured or it is untrusted, 503 if it is unreachable */
export function checkUpdates(): Promise<Updates> {
  return unwrap(client.POST('/api/v1/system/updates/check', {}));
}

export function applyUpdate(version: string): Promise<Update> {
  return unwrap(client.POST('/api/v1/system/updates/apply', { body: { version } }));
}

/** Rolls back to the previous release.
 *  @param discardEvents confirms the loss of events since the update, if the database is restored as well */
export function rollBackUpdate(discardEvents: boolean): Promise<Update> {
  const body = { discard_events: discardEvents };
  return unwrap(client.POST('/api/v1/system/updates/rollback', { body }));
}

/** Removes the database copy for a rollback. */
export function discardRollback(): Promise<Updates> {
  return unwrap(client.POST('/api/v1/system/updates/rollback/discard', {}));
}

/** Lists updates, newest first. */
export async function listUpdates(): Promise<Update[]> {
  return (await unwrap(client.GET('/api/v1/system/updates/history', {}))).items;
}
