/**
 * Makes wrong clocks visible to all processes. A process with a wrong clock holds a database session whose name
 * contains the clock difference.
 */
import type { Queryable } from '../database.ts';

const prefix = 'clock: ';
/** Postgres truncates longer session names and replaces non-ASCII characters. */
const maxLength = 63;

/** Returns the name of the session.
 *  @param process such as `scheduler`
 *  @param difference the text before "the database's", such as `3600 s ahead of` */
export function clockSession(process: string, host: string, difference: string): string {
  const rest = `${prefix}${process}@ ${difference}`.length;
  return `${prefix}${process}@${host.slice(0, maxLength - rest)} ${difference}`;
}

/** Returns one text per process with a wrong clock, such as `scheduler@host 3600 s ahead of`. */
export async function wrongClocks(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ told: string }>(
    `SELECT DISTINCT substr(application_name, ${prefix.length + 1}) AS told FROM pg_stat_activity
     WHERE datname = current_database() AND starts_with(application_name, $1) ORDER BY told`,
    [prefix],
  );
  return rows.map(({ told }) => told);
}
