import { client, unwrap } from '#lib/api/client.ts';
import type { Update, Updates } from '#lib/api/types.ts';

export function getUpdates(): Promise<Updates> {
  return unwrap(client.GET('/api/v1/system/updates', {}));
}

/** Checks the release repository for updates.
 *  @throws ApiError 409 if no repository is configured or the repository is not trusted, 503 if the repository is
 *  unreachable */
export function checkUpdates(): Promise<Updates> {
  return unwrap(client.POST('/api/v1/system/updates/check', {}));
}

export function applyUpdate(version: string): Promise<Update> {
  return unwrap(client.POST('/api/v1/system/updates/apply', { body: { version } }));
}

/** Rolls back to the previous release.
 *  @param discardEvents confirms that events since the update are lost if the database is restored too */
export function rollBackUpdate(discardEvents: boolean): Promise<Update> {
  const body = { discard_events: discardEvents };
  return unwrap(client.POST('/api/v1/system/updates/rollback', { body }));
}

/** Deletes the database copy that was kept for a rollback. */
export function discardRollback(): Promise<Updates> {
  return unwrap(client.POST('/api/v1/system/updates/rollback/discard', {}));
}

/** Lists updates, newest first. */
export async function listUpdates(): Promise<Update[]> {
  return (await unwrap(client.GET('/api/v1/system/updates/history', {}))).items;
}
