/**
 * Creates copies of read tables in a separate schema. The copies are filled and then replace the tables. A session with
 * this schema first in its search path writes to the copies under the original table names.
 */
import type { Queryable } from '../database.ts';

const reads = {
  options: `SELECT array_to_string(reloptions, ', ') AS options FROM pg_class
    WHERE oid = to_regclass('public.' || $1)`,
  constraints: `SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
    WHERE conrelid = to_regclass('public.' || $1) AND contype IN ('p', 'u')`,
  indexes: `SELECT pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i
    WHERE i.indrelid = to_regclass('public.' || $1)
      AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)`,
  grants: `SELECT privilege_type AS privilege, grantee::regrole::text AS grantee
    FROM pg_class, aclexplode(relacl)
    WHERE oid = to_regclass($1) AND grantee <> relowner`,
  views: `SELECT DISTINCT format('%I.%I', n.nspname, v.relname) AS name,
      array_to_string(v.reloptions, ', ') AS options, pg_get_viewdef(v.oid) AS definition
    FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class v ON v.oid = r.ev_class
      JOIN pg_namespace n ON n.oid = v.relnamespace
    WHERE d.classid = 'pg_rewrite'::regclass AND d.refobjid = to_regclass('public.' || $1)
      AND v.relkind = 'v' ORDER BY name`,
  key: `SELECT a.attname AS name FROM pg_constraint c
    JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
    WHERE c.conrelid = to_regclass('public.' || $1) AND c.contype = 'p'
    ORDER BY array_position(c.conkey, a.attnum)`,
  columns: `SELECT attname AS name FROM pg_attribute
    WHERE attrelid = to_regclass('public.' || $1) AND attnum > 0 AND NOT attisdropped
    ORDER BY attnum`,
};

/** Creates an empty copy of a table, including its indexes. Building an index at the end would keep a transaction open
 *  and block every reader of the event store. */
export async function makeShadow(db: Queryable, schema: string, table: string): Promise<void> {
  const copy = `${schema}.${table}`;
  await db.query(`CREATE TABLE ${copy} (LIKE public.${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS
    INCLUDING GENERATED INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING COMMENTS)`);
  const [options] = await rowsOf<{ options: string | null }>(db, reads.options, table);
  if (options?.options) await db.query(`ALTER TABLE ${copy} SET (${options.options})`);
  await addKeys(db, copy, table);
  await grantAll(db, copy, await grantsOf(db, `public.${table}`));
  for (const { definition } of await rowsOf<{ definition: string }>(db, reads.indexes, table)) {
    await db.query(definition.replace(` ON public.${table} `, ` ON ${copy} `));
  }
}

/** Creates an empty temporary copy that hides the table in this session. The copy has no indexes that only improve
 *  speed. */
export async function makeOwnCopy(db: Queryable, table: string): Promise<void> {
  await db.query(`CREATE TEMPORARY TABLE ${table} (LIKE public.${table} INCLUDING DEFAULTS
    INCLUDING CONSTRAINTS INCLUDING GENERATED)`);
  await addKeys(db, `pg_temp.${table}`, table);
}

async function addKeys(db: Queryable, copy: string, table: string): Promise<void> {
  type Constraint = { name: string; definition: string };
  for (const { name, definition } of await rowsOf<Constraint>(db, reads.constraints, table)) {
    await db.query(`ALTER TABLE ${copy} ADD CONSTRAINT ${name} ${definition}`);
  }
}

/** Replaces the table with its copy, which takes the table's name. Columns in `kept` are copied from the original
 *  table, and the table's views are recreated. The caller must hold an exclusive lock on the table. */
export async function switchToShadow(
  db: Queryable,
  schema: string,
  table: string,
  kept: readonly string[],
): Promise<void> {
  if (kept.length > 0) {
    const values = kept.map((column) => `${column} = o.${column}`).join(', ');
    const same = (await keyOf(db, table)).map((key) => `n.${key} = o.${key}`).join(' AND ');
    await db.query(
      `UPDATE ${schema}.${table} n SET ${values} FROM public.${table} o WHERE ${same}`,
    );
  }
  const views = await takeViews(db, schema, table);
  await db.query(`DROP TABLE public.${table}`);
  await db.query(`ALTER TABLE ${schema}.${table} SET SCHEMA public`);
  for (const view of views) await makeView(db, view);
}

interface View {
  readonly name: string;
  readonly options: string | null;
  readonly definition: string;
  readonly grants: readonly Grant[];
}

interface Grant {
  readonly privilege: string;
  readonly grantee: string;
}

/** Drops the views over a table, because they would keep referring to the original table.
 *  @returns the definitions of the views */
async function takeViews(db: Queryable, schema: string, table: string): Promise<readonly View[]> {
  // View definitions omit the schema of objects on the search path.
  await db.query('SET LOCAL search_path = pg_catalog');
  const found = await rowsOf<Omit<View, 'grants'>>(db, reads.views, table);
  await db.query(`SET LOCAL search_path = ${schema}, public`);
  const views: View[] = [];
  for (const view of found) views.push({ ...view, grants: await grantsOf(db, view.name) });
  for (const { name } of views) await db.query(`DROP VIEW ${name}`);
  return views;
}

async function makeView(db: Queryable, view: View): Promise<void> {
  const { name, options, definition, grants } = view;
  const settings = options === null ? '' : `WITH (${options})`;
  await db.query(`CREATE VIEW ${name} ${settings} AS ${definition}`);
  await grantAll(db, name, grants);
}

/** @param name the table's name, including its schema */
function grantsOf(db: Queryable, name: string): Promise<readonly Grant[]> {
  return rowsOf<Grant>(db, reads.grants, name);
}

async function grantAll(db: Queryable, name: string, grants: readonly Grant[]): Promise<void> {
  for (const { privilege, grantee } of grants) {
    await db.query(`GRANT ${privilege} ON ${name} TO ${grantee}`);
  }
}

/** Returns the names of the primary key columns. */
export async function keyOf(db: Queryable, table: string): Promise<readonly string[]> {
  return (await rowsOf<{ name: string }>(db, reads.key, table)).map((row) => row.name);
}

export async function columnsOf(db: Queryable, table: string): Promise<readonly string[]> {
  return (await rowsOf<{ name: string }>(db, reads.columns, table)).map((row) => row.name);
}

async function rowsOf<Row extends object>(
  db: Queryable,
  text: string,
  table: string,
): Promise<readonly Row[]> {
  return (await db.query<Row>(text, [table])).rows;
}
