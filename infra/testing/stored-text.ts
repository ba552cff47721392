/** Searches for text that must not be stored. */
import type { Queryable } from '#infra/postgres/database.ts';

/** Returns the readable tables that contain one of the texts in any row, as text or as bytes. */
export async function tablesWith(
  db: Queryable,
  texts: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT quote_ident(table_name) AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
       AND has_table_privilege(format('%I.%I', table_schema, table_name), 'SELECT')`,
  );
  if (rows.length <= 10) throw new Error('there are more tables than this');
  const found: string[] = [];
  for (const { name } of rows) {
    const hits = await db.query(
      `SELECT FROM ${name} t, unnest($1::text[]) AS form
       WHERE position(form IN t::text) > 0
         OR position(encode(form::bytea, 'hex') IN t::text) > 0 LIMIT 1`,
      [texts],
    );
    if (hits.rowCount !== 0) found.push(name);
  }
  return found;
}
