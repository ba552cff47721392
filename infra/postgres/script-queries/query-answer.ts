/** Runs one script query on a separate connection. The database enforces the query's limits. */
import pg from 'pg';

export const maxQueryRows = 1_000;
const maxQueryBytes = 4 * 1024 * 1024;
const insufficientPrivilege = '42501';
const queryCanceled = '57014';

const statements = {
  // Skips parameters that only a superuser may set, unless the database grants the permission to this user.
  limit: `SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS limits (name, value)
    WHERE name <> ALL ($3) OR has_parameter_privilege(name, 'SET')`,
  begin: `BEGIN READ ONLY`,
  run: `SELECT line, CASE WHEN place = 1 THEN ARRAY(
      SELECT key FROM json_object_keys(line::json) AS key GROUP BY key HAVING count(*) > 1
    ) END AS repeated
    FROM queries.run($1, $2, $3) WITH ORDINALITY AS answer (line, place)`,
};

/** Keeps both the query text and messages that quote it out of the server log. */
const handedOver = {
  log_min_messages: 'panic',
  log_min_error_statement: 'panic',
  temp_file_limit: '64MB',
};
const limits = {
  ...handedOver,
  // Selects the string literal syntax that the parser expects.
  standard_conforming_strings: 'on',
  work_mem: '4MB',
  hash_mem_multiplier: '1',
  max_parallel_workers_per_gather: '0',
};

/** The possible outcomes of a query, for metrics. */
export const queryOutcomes = ['answered', 'failed', 'timeout', 'busy', 'unavailable'] as const;
export type QueryOutcome = (typeof queryOutcomes)[number];

/** The query failed. The message gives the reason. */
export class QueryRefused extends Error {
  override readonly name = 'QueryRefused';
  readonly outcome: Exclude<QueryOutcome, 'answered'>;

  constructor(outcome: QueryRefused['outcome'], message: string, cause?: unknown) {
    super(message, { cause });
    this.outcome = outcome;
  }
}

interface Answer {
  readonly line: string;
  /** Duplicate column names. Only the first row is checked. */
  readonly repeated: readonly string[] | null;
}

/** Runs the query.
 *  @returns the rows as JSON texts
 *  @throws QueryRefused */
export async function answerTo(
  client: pg.PoolClient,
  query: string,
  timeoutMs: number,
): Promise<readonly string[]> {
  const timeout = String(timeoutMs);
  const settings = { ...limits, statement_timeout: timeout, lock_timeout: timeout };
  const names = [Object.keys(settings), Object.values(settings), Object.keys(handedOver)];
  await client.query(statements.limit, names);
  await client.query(statements.begin);
  try {
    const asked = [query, maxQueryRows, maxQueryBytes];
    const { rows } = await client.query<Answer>(statements.run, asked);
    requireDistinctNames(rows[0]?.repeated ?? []);
    return rows.map((row) => row.line);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    throw refusalOf(error, timeoutMs);
  } finally {
    await client.query('ROLLBACK').catch(() => undefined);
  }
}

/** @throws QueryRefused for duplicate column names, because a Python dict would keep only the last value */
function requireDistinctNames(repeated: readonly string[]): void {
  if (repeated.length === 0) return;
  throw new QueryRefused(
    'failed',
    `Several columns have the name ${repeated.map((name) => `"${name}"`).join(', ')}. ` +
      'Give each column a unique name with AS',
  );
}

function refusalOf(error: pg.DatabaseError, timeoutMs: number): QueryRefused {
  const { code, message } = error;
  if (code === queryCanceled) {
    const text = `The query took more than ${timeoutMs / 1000} s (${message})`;
    return new QueryRefused('timeout', text, error);
  }
  const hint =
    code === insufficientPrivilege ? '. Use the functions and views that docs/sdk.md lists' : '';
  return new QueryRefused('failed', `${message}${hint}`, error);
}
