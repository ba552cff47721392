import { client, unwrap } from '#lib/api/client.ts';
import type { Update, Updates } from '#lib/api/types.ts';

export function getUpdates(): Promise<Updates> {
  return unwrap(client.GET('/api/v1/system/updates', {}));
}

/** Asks the repository.
 *  @throws ApiError 409 where none is set or it cannot be trusted, 503 where it cannot be read */
export function checkUpdates(): Promise<Updates> {
  return unwrap(client.POST('/api/v1/system/updates/check', {}));
}

export function applyUpdate(version: string): Promise<Update> {
  return unwrap(client.POST('/api/v1/system/updates/apply', { body: { version } }));
}

/** Goes back to the previous release.
 *  @param discardEvents confirms that the events since the update are lost, where the database changes back as well */
export function rollBackUpdate(discardEvents: boolean): Promise<Update> {
  const body = { discard_events: discardEvents };
  return unwrap(client.POST('/api/v1/system/updates/rollback', { body }));
}

/** Removes the database that is kept for a rollback. */
export function discardRollback(): Promise<Updates> {
  return unwrap(client.POST('/api/v1/system/updates/rollback/discard', {}));
}

/** Newest first. */
export async function listUpdates(): Promise<Update[]> {
  return (await unwrap(client.GET('/api/v1/system/updates/history', {}))).items;
}
