/** Checks the permitted syntax against a real database. Some constructs and types are executed without a function call,
 *  so privileges cannot prevent them. */
import { readFileSync } from 'node:fs';
import { withClient } from '#infra/testing/client.ts';
import { createTestDatabase, type TestDatabase } from '#infra/testing/database.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QueryCheck } from './query-check.ts';
import { allowedNodes } from './query-nodes.ts';
import { QuerySyntax, type QueryNames } from './query-syntax.ts';

let database: TestDatabase;
let platform: pg.Pool;
let check: QueryCheck;
beforeAll(async () => {
  database = await createTestDatabase();
  platform = new pg.Pool({ connectionString: database.serviceUrl, max: 1 });
  platform.on('error', () => undefined); // ends with the database
  check = new QueryCheck(platform);
});
afterAll(async () => {
  await check.close();
  await platform.end();
  await database.drop();
});

/** Returns the queries that the syntax check accepts. */
async function allowedOf(queries: readonly string[]): Promise<readonly string[]> {
  const problems = await Promise.all(queries.map((query) => check.problemOf(query)));
  return queries.filter((_query, index) => problems[index] === undefined);
}

/** Returns the queries that the database accepts from the restricted query role. */
async function answeredOf(queries: readonly string[]): Promise<readonly string[]> {
  return await withClient(database.serviceUrl, async (client) => {
    const answered: string[] = [];
    for (const query of queries) {
      await client.query('BEGIN READ ONLY');
      const isAnswered = await client.query('SELECT queries.run($1, 1000, 1000000)', [query]).then(
        () => true,
        () => false,
      );
      if (isAnswered) answered.push(query);
      await client.query('ROLLBACK');
    }
    return answered;
  });
}

const xml = [
  "SELECT * FROM xmltable('/*' PASSING xmlparse(document '<r><a/></r>') COLUMNS a text PATH 'count(//a)')",
  "SELECT xmlparse(content '<a/>')",
  'SELECT xmlelement(name a)',
  'SELECT xmlelement(name a, xmlattributes(1 AS b))',
  'SELECT xmlforest(1 AS a)',
  'SELECT xmlconcat(NULL, NULL)',
  'SELECT xmlpi(name a)',
  'SELECT xmlserialize(content xmlelement(name a) AS text)',
  "SELECT xmlroot(xmlelement(name a), version '1.0')",
  'SELECT xmlelement(name a) IS DOCUMENT',
  "SELECT '<a/>'::xml",
];
const references =
  'regproc regprocedure regoper regoperator regclass regtype regrole regnamespace regconfig regdictionary regcollation'.split(
    ' ',
  );
const casts = references.flatMap((type) => [
  `SELECT NULL::${type}`,
  `SELECT ${type} '10'`,
  `SELECT g.${type} FROM generate_series(10, 10) AS g`,
]);
const roles = [
  "SELECT '10'::regrole",
  "SELECT ('10').regrole",
  `SELECT * FROM json_to_record('{"a": "10"}') AS x (a regrole)`,
  `SELECT * FROM ROWS FROM (json_to_record('{"a": "10"}') AS (a regrole)) AS x`,
  "SELECT ('{10}'::regrole[])[1]",
  'SELECT CAST(10 AS pg_catalog.regrole)',
];
const others = [
  'SELECT CURRENT_USER',
  'SELECT SESSION_USER',
  'SELECT CURRENT_CATALOG',
  'SELECT CURRENT_SCHEMA',
  'SELECT pg_backend_pid()',
  "SELECT '1.2.3.4'::inet",
  "SELECT * FROM json_table('[1]', '$[*]' COLUMNS (a int PATH '$'))",
  "SELECT json_value('1', '$')",
  "SELECT '{}' IS JSON",
  'WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n FROM t WHERE false) CYCLE n SET c USING p SELECT * FROM t',
  'SELECT 1 AS a ORDER BY 1 USING OPERATOR(pg_catalog.<)',
];

describe('constructs that privileges cannot prevent', () => {
  test.each([
    ['XML functions', xml],
    ['catalog names', [...casts, ...roles]],
    ['session functions, other types and other syntax', others],
  ])(
    '%s are refused by the syntax check, although the database accepts them',
    async (_name, queries) => {
      expect(await allowedOf(queries)).toEqual([]);
      expect(await answeredOf(queries)).toEqual(queries);
    },
  );
});

const everyType = `
  SELECT t.typname AS name, t.oid IN (SELECT oid FROM queries.listed_types) AS is_listed
  FROM pg_type t WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype <> 'p' ORDER BY 1`;

/** Returns every way to name a type in a query. */
const waysToName = (type: string): readonly string[] => [
  `SELECT NULL::${type}`,
  `SELECT CAST(NULL AS pg_catalog.${type}[])`,
  `SELECT ${type} 'x'`,
  `SELECT * FROM json_to_record('{}') AS x (a ${type})`,
];
const castFields = (type: string): readonly string[] => [
  `SELECT g.${type} FROM generate_series(1, 1) AS g`,
  `SELECT ('1').${type}`,
  `SELECT (ARRAY['1'])[1].${type}`,
];

test('only the listed types are permitted', async () => {
  const { rows } = await withClient(database.adminUrl, (client) =>
    client.query<{ name: string; is_listed: boolean }>(everyType),
  );
  const quoted = (isListed: boolean) =>
    rows.filter((row) => row.is_listed === isListed).map(({ name }) => pg.escapeIdentifier(name));
  const [listed, unlisted] = [quoted(true), quoted(false)];
  expect(unlisted.length).toBeGreaterThan(200);
  expect(await allowedOf(unlisted.flatMap(waysToName))).toEqual([]);
  // Excludes the type `name`, because the views have columns of this name.
  const fields = unlisted.filter((type) => type !== '"name"').flatMap(castFields);
  expect(await allowedOf(fields)).toEqual([]);
  const named = listed.flatMap(waysToName);
  expect(await allowedOf(named)).toEqual(named);
  expect((await answeredOf(unlisted.flatMap(castFields))).length).toBeGreaterThan(10);
}, 120_000);

const statements = `ALTER TABLE runs ADD a int; ANALYZE; BEGIN; CALL f(); CHECKPOINT; CLOSE c; CLUSTER; COMMENT ON TABLE runs IS 'a';
  COMMIT; COPY runs TO STDOUT; COPY (SELECT 1) TO PROGRAM 'a'; CREATE TABLE a (b int); CREATE TABLE a AS SELECT 1;
  CREATE FUNCTION f() RETURNS int LANGUAGE sql AS ''; CREATE ROLE a; CREATE EXTENSION a; CREATE VIEW a AS SELECT 1;
  DEALLOCATE ALL; DECLARE c CURSOR FOR SELECT 1; DELETE FROM runs; DISCARD ALL; DO ''; DROP TABLE runs; EXECUTE a;
  EXPLAIN SELECT 1; FETCH c; GRANT SELECT ON runs TO a; INSERT INTO runs DEFAULT VALUES; LISTEN a; LOAD 'a';
  LOCK runs; MERGE INTO runs USING scripts ON true WHEN MATCHED THEN DELETE; NOTIFY a; PREPARE a AS SELECT 1;
  REASSIGN OWNED BY a TO b; REFRESH MATERIALIZED VIEW a; REINDEX TABLE runs; RESET ALL; REVOKE SELECT ON runs FROM a;
  ROLLBACK; SAVEPOINT a; SECURITY LABEL ON TABLE runs IS 'a'; SET role = 'none'; SHOW ALL; TRUNCATE runs; UNLISTEN a;
  UPDATE runs SET id = NULL; VACUUM; SELECT 1 INTO a; SELECT 1 FOR UPDATE; SELECT 1 FROM runs FOR SHARE;
  WITH a AS (UPDATE runs SET id = NULL RETURNING 1) SELECT 1; SELECT $1; SELECT * FROM runs TABLESAMPLE SYSTEM (1)`;

describe('a query', () => {
  test('may read tables', async () => {
    expect(await allowedOf(statements.split(';'))).toEqual([]);
    expect(await check.problemOf('SELECT 1; SELECT 2')).toMatch(/only one statement is allowed/);
    expect(await check.problemOf('-- nothing')).toMatch(/the query is empty/);
  });

  test.each([
    'SELECT name, count(*) FILTER (WHERE enabled) FROM scripts s GROUP BY ROLLUP (name) HAVING count(*) > 0',
    'SELECT r.id, s.tags, rank() OVER w FROM queries.runs r JOIN scripts s ON s.id = r.script_id WINDOW w AS (PARTITION BY s.id ORDER BY r.queued_at DESC NULLS LAST ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)',
    'WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3) TABLE n ORDER BY i LIMIT 2 OFFSET 1',
    "SELECT DISTINCT ON (1) x, x -> 'a' ->> 'b', x @? '$.a' FROM jsonb_array_elements('[{}]') AS x",
    "SELECT extract(year FROM now()), now() AT TIME ZONE 'UTC', current_date, interval '1' day, trim('a'), overlay('abc' PLACING 'x' FROM 2), make_interval(days => 1)",
    "SELECT CASE WHEN 1 BETWEEN 0 AND 2 THEN 'a' LIKE 'b' ESCAPE 'c' ELSE NOT 'a' SIMILAR TO 'b' END, coalesce(NULL, 1), greatest(1, 2), nullif(1, 2)",
    'SELECT 1 = ANY (ARRAY[1, 2]), (ARRAY[1, 2])[1:2], ARRAY(SELECT 1), EXISTS (SELECT 1), (1, 2) = ROW (1, 2), 1 IN (1, 2)',
    "SELECT * FROM unnest(ARRAY[1], ARRAY['a']) WITH ORDINALITY AS u (a, b, c), LATERAL (SELECT u.a) l, json_to_record('{}') AS j (x int, y numeric(10, 2)[])",
    'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ms) FROM runs UNION SELECT 1 INTERSECT SELECT 2',
    "SELECT convert_from('abc'::bytea, 'UTF8'), 'a' COLLATE \"C\", 1 OPERATOR(pg_catalog.+) 1, E'\\'', U&'\\0061', $$a$$",
    'SELECT (s).name, s.*, s FROM scripts s ORDER BY 1 FETCH FIRST 1 ROW WITH TIES',
  ])('may use listed syntax: %s', async (query) => {
    expect(await check.problemOf(query)).toBeUndefined();
    expect(await answeredOf([query])).toEqual([query]);
  });

  test('is refused with an error that names the unlisted construct and its position', async () => {
    const list = '. docs/sdk.md lists what queries may use';
    expect(await check.problemOf("SELECT 'ä',\n  pg_sleep(1)")).toBe(
      `line 2, column 3: the function pg_sleep is not allowed${list}`,
    );
    expect(await check.problemOf('SELECT 1::"äé", NULL::inet')).toBe(
      `line 1, column 11: the type äé is not allowed${list}`,
    );
    expect(await check.problemOf(xml[0] ?? '')).toBe(
      `line 1, column 15: XMLTABLE is not allowed${list}`,
    );
    expect(await check.problemOf('SELECT 1 FROM runs FOR UPDATE')).toMatch(
      /^a row lock such as FOR UPDATE is not allowed/,
    );
    expect(await check.problemOf('SELECT g.regclass FROM runs g')).toMatch(
      /^line 1, column 8: the field regclass is not allowed, because it is the name of a type: rename the column/,
    );
    expect(await check.problemOf('SELECT\n1 FRM runs x')).toBe(
      'line 2, column 7: syntax error at or near "runs"',
    );
  });

  test.each([
    ['parentheses', `SELECT ${'('.repeat(30_000)}1${')'.repeat(30_000)}`],
    ['negations', `SELECT ${'NOT '.repeat(15_000)}true`],
    ['sums', `SELECT 1${'+1'.repeat(30_000)}`],
    ['subqueries', `SELECT ${'(SELECT '.repeat(7_000)}1${')'.repeat(7_000)}`],
    ['unions', `SELECT 1${' UNION SELECT 1'.repeat(4_000)}`],
    ['casts', `SELECT 1${'::int'.repeat(12_000)}`],
    ['joins', `SELECT 1 FROM runs${' JOIN runs ON true'.repeat(3_500)}`],
    ['conditions', `SELECT ${'CASE WHEN true THEN '.repeat(2_500)}1${' END'.repeat(2_500)}`],
  ])(
    'with too many nested %s is refused, and the next query can be checked',
    async (_name, query) => {
      expect(query.length).toBeLessThanOrEqual(64 * 1024);
      expect(await check.problemOf(query)).toMatch(
        /nested more than 500 levels deep|memory exhausted|too large to be checked/,
      );
      expect(await check.problemOf('SELECT 1')).toBeUndefined();
    },
  );
});

describe('the lists of permitted names', () => {
  test('match the documentation', async () => {
    const docs = readFileSync(new URL('../../../docs/sdk.md', import.meta.url), 'utf8');
    const documented = (kind: string) => {
      const [, block = ''] = new RegExp(`\`\`\`text ${kind}\n(.*?)\`\`\``, 's').exec(docs) ?? [];
      return block.split(/\s+/).filter(Boolean).toSorted();
    };
    const { rows } = await platform.query<{ kind: string; name: string }>('TABLE queries.syntax');
    for (const kind of ['function', 'type']) {
      const listed = rows.filter((row) => row.kind === kind).map(({ name }) => name);
      expect(listed.length).toBeGreaterThan(20);
      expect(documented(`${kind}s`)).toEqual(listed.toSorted());
    }
  });

  test('contain only functions that the database lets queries execute', async () => {
    const { rows } = await withClient(database.adminUrl, (client) =>
      client.query<{ name: string }>(`SELECT name FROM queries.listed_functions WHERE name NOT IN (
        SELECT proname FROM pg_proc WHERE oid IN (SELECT oid FROM queries.allowed_functions)
          AND has_function_privilege('orch_query', oid, 'EXECUTE'))`),
    );
    expect(rows).toEqual([]);
  });
});

describe('a syntax tree', () => {
  const none: QueryNames = { function: [], type: [], operator: [], relation: [], cast: [] };
  const syntax = new QuerySyntax(none);
  const treeOf = (node: object) => ({
    stmts: [{ stmt: { SelectStmt: { targetList: [node] } } }],
  });

  test('with an unlisted node or field is refused', () => {
    expect(() => syntax.check(treeOf({ Newcomer: {} }))).toThrow('Newcomer is not allowed');
    expect(() => syntax.check(treeOf({ constructor: {} }))).toThrow('constructor is not allowed');
    for (const kind of Object.keys(allowedNodes)) {
      expect(() => syntax.check(treeOf({ [kind]: { newcomer: 1 } }))).toThrow(/not allowed/);
      expect(() => syntax.check(treeOf({ [kind]: { newcomer: {} } }))).toThrow(/not allowed/);
    }
  });
});
