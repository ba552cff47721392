/** Calls permitted functions and operators with the slowest arguments. Each query must end at its time limit. */
import { groupId } from '#domain/testing/ids.ts';
import { openTestPlatform, untilTrue, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ScriptQueries } from './script-queries.ts';

let platform: TestPlatform;
let queries: ScriptQueries;
beforeAll(async () => {
  platform = await openTestPlatform();
  queries = new ScriptQueries({
    url: platform.serviceUrl,
    platform: platform.pool,
    connections: 2,
    timeoutMs: 500,
    maxWaitMs: 30_000,
    lenient: false,
    metrics: { waited: () => undefined, ended: () => undefined },
    onIdleError: () => undefined,
  });
});
afterAll(async () => {
  await queries.close();
  await platform.close();
});

/** Returns the message of a failing query. A query that exceeds its time limit is either canceled or reported as still
 *  running. */
async function problemOf(query: string): Promise<string> {
  return await queries.run(groupId(), query).then(
    () => '',
    (error: Error) => error.message,
  );
}

const a = (length: number) => `repeat('a', ${length})`;
const nines = (digits: number) => `repeat('9', ${digits})::numeric`;
const numbers = 'SELECT jsonb_agg(n) FROM generate_series(1, 20000) n';

describe('a query is canceled at its time limit', () => {
  test.each([
    ['exponentiation', 'SELECT (9.99999::numeric ^ 16000)::text'],
    ['an exponential function', 'SELECT exp(5999.123::numeric(1000, 900))::text'],
    ['a logarithm', "SELECT ln(('1.' || repeat('9', 16000))::numeric)::text"],
    ['a factorial', 'SELECT factorial(30000)'],
    ['a multiplication of numerics', `SELECT (${nines(65_000)} * ${nines(65_000)})::text`],
    ['a division of numerics', `SELECT div(${nines(130_000)}, ${nines(65_000)})::text`],
    ['a greatest common divisor', `SELECT gcd(${nines(60_000)}, ${nines(59_999)} - 1)::text`],
    ['generate_series', 'SELECT count(*) FROM generate_series(1, 100000000000) n WHERE n < 0'],
    [
      'a cross join of series',
      'SELECT count(*) FROM generate_series(1, 100000) n, generate_series(1, 100000) m WHERE n < -m',
    ],
    [
      'a recursive query',
      'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r',
    ],
    ['backtracking', `SELECT ${a(5_000_000)} ~ '(a*)*b'`],
    ['back references', `SELECT ${a(2_000)} ~ '^(a*)(a*)(a*)\\1\\2\\3b'`],
    ['counted repetitions', "SELECT 'a' ~ '(((a{0,200}){0,50}){0,10})'"],
    ['many alternatives', "SELECT 'a' ~ (repeat('(ab|)', 20000) || 'c')"],
    ['SIMILAR TO', `SELECT ${a(100_000)} SIMILAR TO '((a|aa)*)*b'`],
    ['many matches', `SELECT count(*) FROM regexp_matches(${a(20_000_000)}, 'a', 'g')`],
    ['LIKE', `SELECT ${a(100_000)} LIKE '%' || repeat('_', 50000) || 'b%'`],
    [
      'exponential JSON paths',
      "SELECT count(*) FROM jsonb_path_query((repeat('[', 200) || repeat(']', 200))::jsonb, '$.**.**.**.**.**.**.**')",
    ],
    [
      'nested JSON filters',
      `SELECT jsonb_path_exists((${numbers}), '$[*] ? (exists($[*] ? (@ < 0)))')`,
    ],
    [
      'window frames',
      `SELECT count(*) FROM (SELECT string_agg(n::text, ',') OVER (ORDER BY n ROWS BETWEEN 100000 PRECEDING AND CURRENT ROW)
         FROM generate_series(1, 100000) n) q`,
    ],
    [
      'grouping sets',
      `SELECT count(*) FROM (SELECT 1 FROM generate_series(1, 10) x
         GROUP BY CUBE (${Array.from({ length: 12 }, (_, n) => `x + ${n}`).join(', ')})) q`,
    ],
    [
      'many joins',
      `SELECT count(*) FROM ${Array.from({ length: 60 }, (_, n) => `runs r${n}`).join(' NATURAL JOIN ')}`,
    ],
    ['many set operations', Array.from({ length: 400 }, () => 'SELECT 1 AS n').join(' INTERSECT ')],
  ])('%s', async (_name, query) => {
    expect(await problemOf(query)).not.toMatch(/could not be canceled|not allowed|syntax error/);
  });
});

describe('a query is refused if it would run for hours', () => {
  test.each([
    ['long character sets', `SELECT translate(${a(5_000_000)}, repeat('b', 1000000), '')`],
    ['long character sets to trim', `SELECT btrim(${a(5_000_000)}, repeat('b', 1000000))`],
    ['long formats', `SELECT to_timestamp(repeat('1', 1000000), repeat('YYYY', 1000000))`],
    ['a set of more than 32 characters', `SELECT btrim('a', '${'b'.repeat(33)}')`],
    ['normalization', "SELECT normalize('a' || repeat(U&'\\0301\\0316', 2000000))"],
    ['a normalization check', "SELECT 'a' IS NORMALIZED"],
  ])('%s', async (_name, query) => {
    expect(await problemOf(query)).toMatch(/not allowed/);
  });
});

test('a query that compares long values is abandoned because it cannot be interrupted', async () => {
  const long = `SELECT strpos(${a(4_000_000)}, 'b' || ${a(4_000)})`;
  expect(await problemOf(long)).toMatch(/could not be canceled/);
  expect(queries.abandoned).toBe(1);
  await untilTrue('the query has ended', () => Promise.resolve(queries.abandoned === 0));
}, 180_000);
