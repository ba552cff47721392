/** Reads the data that a restore needs before it replaces the database. */
import type { Actor } from '#domain/kernel/actor.ts';
import type { Queryable } from '../database.ts';

const statements = {
  requester: `SELECT metadata -> 'actor' AS actor FROM events
    WHERE stream_id = $1 AND type = 'RestoreRequested' ORDER BY version DESC LIMIT 1`,
  connected: `SELECT DISTINCT application_name AS name FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = ANY ($1)`,
};

/** Returns the user who requested the restore.
 *  @returns `undefined` if an interrupted restore has already removed the request */
export async function restoreRequester(
  db: Queryable,
  backupId: string,
): Promise<Actor | undefined> {
  const { rows } = await db.query<{ actor: Actor }>(statements.requester, [`backup-${backupId}`]);
  return rows[0]?.actor;
}

/** Returns the given application names that are currently connected to this database. */
export async function connectedApplications(
  db: Queryable,
  names: readonly string[],
): Promise<readonly string[]> {
  return (await db.query<{ name: string }>(statements.connected, [names])).rows.map(
    ({ name }) => name,
  );
}
