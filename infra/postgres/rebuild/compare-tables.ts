/** Compares a rebuilt table with the table that it will replace. */
import type { Queryable } from '../database.ts';
import { columnsOf, keyOf } from './shadow-tables.ts';

const shownKeys = 5;

export interface TableComparison {
  readonly table: string;
  /** The number of rows before and after the switch. */
  readonly rowsBefore: number;
  readonly rowsAfter: number;
  /** The number of rows that the switch removes, adds or changes. */
  readonly lost: number;
  readonly added: number;
  readonly changed: number;
  /** The first primary keys of differing rows, in order. */
  readonly keys: readonly string[];
}

/** Compares `public.<table>` with `<schema>.<table>`. Ignores the columns in `kept`, because a rebuild preserves
 *  them. */
export async function compareTables(
  db: Queryable,
  schema: string,
  table: string,
  kept: readonly string[],
): Promise<TableComparison> {
  const key = await keyOf(db, table);
  const columns = (await columnsOf(db, table)).filter((name) => !kept.includes(name));
  const [first = ''] = key;
  const side = (alias: string) => columns.map((name) => `${alias}.${name}`).join(', ');
  const { rows } = await db.query<Omit<TableComparison, 'table'>>(
    `WITH pair AS (
      SELECT concat_ws('/', ${key.map((name) => `coalesce(o.${name}, n.${name})`).join(', ')}) AS key,
        o.${first} IS NOT NULL AS before, n.${first} IS NOT NULL AS after,
        (${side('o')}) IS DISTINCT FROM (${side('n')}) AS differs
      FROM public.${table} o FULL JOIN ${schema}.${table} n
        ON ${key.map((name) => `o.${name} = n.${name}`).join(' AND ')}
    )
    SELECT count(*) FILTER (WHERE before) AS "rowsBefore",
      count(*) FILTER (WHERE after) AS "rowsAfter",
      count(*) FILTER (WHERE before AND NOT after) AS lost,
      count(*) FILTER (WHERE after AND NOT before) AS added,
      count(*) FILTER (WHERE before AND after AND differs) AS changed,
      ARRAY(SELECT key FROM pair WHERE differs ORDER BY key LIMIT ${shownKeys}) AS keys
    FROM pair`,
    [],
  );
  const [found] = rows;
  if (found === undefined) throw new Error(`the comparison of ${table} returned no result`);
  return { table, ...found };
}
