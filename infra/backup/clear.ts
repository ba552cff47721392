/** Empties a database: removes everything that the migrations create. */
import type { Queryable } from '#infra/postgres/database.ts';

const schemas = `SELECT nspname AS name FROM pg_namespace
  WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' ORDER BY nspname`;

/** Must run as the schema's owner, inside a transaction.
 *  @returns the IDs of data keys that this installation has destroyed, and that must not be restored */
export async function clearDatabase(db: Queryable): Promise<readonly string[]> {
  const destroyed = await destroyedKeys(db);
  const { rows } = await db.query<{ name: string }>(schemas);
  for (const { name } of rows) await db.query(`DROP SCHEMA "${name}" CASCADE`);
  await db.query('CREATE SCHEMA public AUTHORIZATION pg_database_owner');
  await db.query('GRANT USAGE ON SCHEMA public TO PUBLIC');
  return destroyed;
}

async function destroyedKeys(db: Queryable): Promise<readonly string[]> {
  const { rows: tables } = await db.query<{ there: boolean }>(
    `SELECT to_regclass('public.destroyed_keys') IS NOT NULL AS there`,
  );
  if (tables[0]?.there !== true) return [];
  const { rows } = await db.query<{ key_id: string }>('SELECT key_id FROM destroyed_keys');
  return rows.map((row) => row.key_id);
}
