/** Looks for what must not be stored. */
import type pg from 'pg';

/** The tables that hold one of the texts anywhere in a row, as text or as bytes. */
export async function tablesWith(
  pool: pg.Pool,
  texts: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT quote_ident(table_name) AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const hits = await pool.query(
      `SELECT FROM ${name} t, unnest($1::text[]) AS form
       WHERE position(form IN t::text) > 0
         OR position(encode(form::bytea, 'hex') IN t::text) > 0 LIMIT 1`,
      [texts],
    );
    if (hits.rowCount !== 0) found.push(name);
  }
  return found;
}
