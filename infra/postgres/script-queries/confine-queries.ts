/** Restricts script queries to the listed functions and relations, even after the server or the schema is updated. */
import { withConnection } from '../await-database.ts';
import type { Queryable } from '../database.ts';

const confine = `SELECT queries.confine()
  WHERE (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AND EXISTS (SELECT FROM queries.gaps)`;

/** Revokes access to objects that were created since the last call. Must be called after each migration. Does nothing
 *  if the schema's owner is not a superuser.
 *  @param adminUrl the URL of the schema's owner
 *  @returns the unlisted objects that queries can still use */
export async function confineQueries(adminUrl: string): Promise<readonly string[]> {
  return await withConnection(adminUrl, async (client) => {
    await client.query(confine);
    const { rows } = await client.query<{ what: string }>('SELECT what FROM queries.gaps');
    return rows.map(({ what }) => what);
  });
}

/**
 * Counts unlisted functions, relations and parameters that queries can use. If any exist, runtimes refuse queries
 * unless `ORCH_QUERY_LENIENT` is set.
 */
export async function countQueryGaps(database: Queryable): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM queries.gaps',
  );
  return rows[0]?.count ?? 0;
}
