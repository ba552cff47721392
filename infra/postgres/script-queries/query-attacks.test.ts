/** Tries every function and every relation of the database in a script query. The queries run once with the
 *  restrictions, and once with the privileges of PUBLIC, which shows that the attacks are real. */
import { withClient } from '#infra/testing/client.ts';
import { createTestDatabase, type TestDatabase } from '#infra/testing/database.ts';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { confineQueries } from './confine-queries.ts';

let database: TestDatabase;
let attempts: readonly Attempt[];
let allowed: readonly Attempt[];
beforeAll(async () => {
  database = await createTestDatabase();
  await withClient(database.adminUrl, async (client) => {
    const functions = await client.query<FunctionRow>(everyFunction);
    const relations = await client.query<RelationRow>(everyRelation);
    const calls = functions.rows.map(callOf);
    const reads = relations.rows.map(readOf);
    attempts = [...calls, ...reads].filter((one) => !one.isAllowed);
    allowed = [...calls, ...reads].filter((one) => one.isAllowed);
  });
});
afterAll(() => database.drop());

interface Attempt {
  readonly kind: 'function' | 'relation';
  readonly name: string;
  readonly isAllowed: boolean;
  /** Undefined if the function cannot be called from SQL, for example because of internal argument types. */
  readonly sql: string | undefined;
}

interface FunctionRow {
  readonly signature: string;
  readonly name: string;
  readonly types: readonly string[];
  readonly is_variadic: boolean;
  readonly kind: string;
  readonly direct: number | null;
  readonly is_allowed: boolean;
}

const everyFunction = `
  SELECT p.oid::regprocedure AS signature, format('%I.%I', n.nspname, p.proname) AS name, p.prokind AS kind,
    ARRAY(SELECT format_type(type, NULL) FROM unnest(p.proargtypes) AS type) AS types,
    p.provariadic NOT IN (0, '"any"'::regtype) AS is_variadic,
    (SELECT aggnumdirectargs FROM pg_aggregate WHERE aggfnoid = p.oid AND aggkind <> 'n') AS direct,
    p.oid IN (SELECT oid FROM queries.allowed_functions) AS is_allowed
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE p.oid <> 'queries.run'::regproc ORDER BY p.oid`;

interface RelationRow {
  readonly name: string;
  readonly is_allowed: boolean;
}

const everyRelation = `
  SELECT format('%I.%I', n.nspname, c.relname) AS name,
    n.nspname = 'queries' AND c.relname IN ('scripts', 'schedules', 'runs', 'run_logs') AS is_allowed
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p', 'S', 't') ORDER BY c.oid`;

/** Example values for polymorphic arguments. */
const examples: Readonly<Record<string, string>> = {
  '"any"': 'integer',
  anyelement: 'integer',
  anynonarray: 'integer',
  anycompatible: 'integer',
  anycompatiblenonarray: 'integer',
  anyarray: 'integer[]',
  anycompatiblearray: 'integer[]',
  anyrange: 'int4range',
  anycompatiblerange: 'int4range',
  anymultirange: 'int4multirange',
  anycompatiblemultirange: 'int4multirange',
};
const ofTheServer =
  /^(internal|cstring|unknown|anyenum|trigger|event_trigger|language_handler|.*_handler|pg_ddl_command)$/;

function callOf(row: FunctionRow): Attempt {
  const { signature, name, types, direct } = row;
  // The argument is not a constant, because the planner would not call a strict function with a constant NULL.
  const given = types.map((type, index) => {
    const value = `(SELECT NULL::${examples[type] ?? type})`;
    return row.is_variadic && index === types.length - 1 ? `VARIADIC ${value}` : value;
  });
  let call = `${name}(${given.join(', ')})`;
  if (direct !== null) {
    const [before, sorted] = [given.slice(0, direct), given.slice(direct)];
    call = `${name}(${before.join(', ')}) WITHIN GROUP (ORDER BY ${sorted.join(', ') || '1'})`;
  }
  if (row.kind === 'w') call += ' OVER ()';
  return {
    kind: 'function',
    name: signature,
    isAllowed: row.is_allowed,
    sql: types.some((type) => ofTheServer.test(type)) ? undefined : `SELECT ${call}`,
  };
}

function readOf({ name, is_allowed: isAllowed }: RelationRow): Attempt {
  return { kind: 'relation', name, isAllowed, sql: `SELECT * FROM ${name} LIMIT 1` };
}

const insufficientPrivilege = '42501';
type Outcome = 'denied' | 'answered' | 'failed';

/** Returns the outcome of each query. Executes the queries with the same function as the services. */
async function outcomesOf(all: readonly Attempt[]): Promise<ReadonlyMap<string, Outcome>> {
  return await withClient(database.serviceUrl, async (client) => {
    const outcomes = new Map<string, Outcome>();
    for (const { name, sql } of all) {
      if (sql !== undefined) outcomes.set(name, await outcomeOf(client, sql));
    }
    return outcomes;
  });
}

async function outcomeOf(client: pg.Client, sql: string): Promise<Outcome> {
  await client.query('BEGIN READ ONLY');
  try {
    await client.query('SELECT line FROM queries.run($1, 1000, 1000000) AS line', [sql]);
    return 'answered';
  } catch (error) {
    return (error as pg.DatabaseError).code === insufficientPrivilege ? 'denied' : 'failed';
  } finally {
    await client.query('ROLLBACK');
  }
}

/** Returns the names of the queries with other outcomes than the given ones. */
function otherThan(outcomes: ReadonlyMap<string, Outcome>, ...expected: readonly Outcome[]) {
  return [...outcomes].filter(([, outcome]) => !expected.includes(outcome)).map(([name]) => name);
}

const held = `SELECT count(*)::integer AS held FROM pg_proc WHERE has_function_privilege('orch_query', oid, 'EXECUTE')`;

describe('a query', () => {
  test('cannot use unlisted functions and relations', async () => {
    const outcomes = await outcomesOf(attempts);
    expect(outcomes.size).toBeGreaterThan(1_000);
    expect(otherThan(outcomes, 'denied')).toEqual([]);
  }, 120_000);

  test('has no privileges on unlisted functions, not even on those that no query can call', async () => {
    const { rows } = await withClient(database.adminUrl, (client) =>
      client.query<{ held: number }>(held),
    );
    expect(rows[0]?.held).toBe(allowed.filter(({ kind }) => kind === 'function').length);
  });

  test('may use every listed function and relation', async () => {
    const outcomes = await outcomesOf(allowed);
    expect(otherThan(outcomes, 'answered', 'failed')).toEqual([]);
  }, 120_000);

  test('cannot use objects added later, once the restrictions have been applied again', async () => {
    await withClient(database.adminUrl, (client) =>
      client.query(`CREATE FUNCTION public.newcomer() RETURNS integer LANGUAGE sql RETURN 1;
        CREATE VIEW public.newcomers AS SELECT 1 AS n; GRANT SELECT ON public.newcomers TO PUBLIC`),
    );
    const newcomers: readonly Attempt[] = [
      { kind: 'function', name: 'a', isAllowed: false, sql: 'SELECT public.newcomer()' },
      { kind: 'relation', name: 'b', isAllowed: false, sql: 'SELECT * FROM public.newcomers' },
    ];
    expect([...(await outcomesOf(newcomers)).values()]).toEqual(['answered', 'answered']);
    expect(await confineQueries(database.adminUrl)).toEqual([]);
    expect([...(await outcomesOf(newcomers)).values()]).toEqual(['denied', 'denied']);
    await withClient(database.adminUrl, (client) =>
      client.query('DROP VIEW public.newcomers; DROP FUNCTION public.newcomer()'),
    );
  });

  test('could use unlisted functions if PUBLIC kept its default privileges', async () => {
    await withClient(database.adminUrl, (client) => client.query('SELECT queries.release()'));
    try {
      const outcomes = await outcomesOf(attempts);
      expect(otherThan(outcomes, 'denied', 'failed').length).toBeGreaterThan(1_000);
      const real = ['pg_sleep(double precision)', 'query_to_xml(text,boolean,boolean,text)'];
      const reads = ['pg_catalog.pg_stat_activity', 'pg_catalog.pg_roles', 'pg_catalog.pg_proc'];
      for (const name of [...real, ...reads, 'pg_export_snapshot()']) {
        expect([name, outcomes.get(name)]).toEqual([name, 'answered']);
      }
    } finally {
      expect(await confineQueries(database.adminUrl)).toEqual([]);
    }
  }, 120_000);
});
