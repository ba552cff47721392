/** Opens connections to Postgres, which all adapters of a process share. */
import { createHash } from 'node:crypto';
import { together } from '#projections/projection.ts';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { Connection, ConnectionPool } from './connection.ts';

// Positions and sizes stay far below 2^53. Transaction IDs may exceed that limit, so they are read as text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Executes statements: either the pool, or the client of one transaction. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<pg.QueryResult<Row>>;
}

export interface Database {
  readonly pool: pg.Pool;
  /** Ends all connections. Idempotent. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Maximum number of connections. */
  readonly connections: number;
  /** The application name in `pg_stat_activity`. */
  readonly applicationName: string;
  /** The statement timeout. Default: none. */
  readonly statementMs?: number;
  /** Called when a connection breaks while idle. The pool replaces the connection automatically. */
  readonly onIdleError: (error: Error) => void;
}

/** Prepares every repeated statement under a name derived from its text, so that it is parsed and planned once per
 *  connection. Sends the statements of one event loop turn in a single write. */
class PreparingConnection extends Connection {
  #isGathering = false;

  // `query` has many overloads. Only text with values gets a name.
  override query(...args: unknown[]): never {
    this.#gather();
    const [text, values, ...rest] = args;
    const name =
      typeof text === 'string' && Array.isArray(values) ? statementName(text) : undefined;
    const prepared = name === undefined ? args : [{ name, text, values }, ...rest];
    return super.query(...prepared);
  }

  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    const { stream } = this.connection;
    stream.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      stream.uncork();
    });
  }
}

/** The limit exceeds the number of statements in the service. Each prepared statement permanently uses memory in this
 *  process and in Postgres. */
const maxNames = 2_000;
const names = new Map<string, string>();
/** Recent statements that were executed once. Statements with inline values rarely repeat, so they are not prepared. */
let newcomers = new Set<string>();

function statementName(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= maxNames) return known;
  if (!newcomers.delete(text)) {
    if (newcomers.size >= maxNames) newcomers = new Set();
    newcomers.add(text);
    return undefined;
  }
  const name = createHash('sha256').update(text).digest('hex').slice(0, 32);
  names.set(text, name);
  return name;
}

/** Opens a pool. Connections are opened on demand, so the database need not be running yet. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const pool = new ConnectionPool({
    connectionString: url,
    Client: PreparingConnection,
    max: options.connections,
    // Statements that do not wait for each other share a round trip.
    pipeline: true,
    application_name: options.applicationName,
    // A burst of requests opens many connections, each of which takes 3 to 5 MB in Postgres.
    idleTimeoutMillis: 10_000,
    statement_timeout: options.statementMs ?? 0,
  });
  pool.on('error', options.onIdleError);
  let closing: Promise<void> | undefined;
  return { pool, close: () => (closing ??= pool.end()) };
}

/** Returns a query builder for a pool. The caller closes the pool. */
export function queryBuilder<Tables>(pool: pg.Pool): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** Returns a query builder for a transaction that the caller began on `client`. */
export function queryBuilderOn<Tables>(client: pg.PoolClient): Kysely<Tables> {
  const lent = {
    query: client.query.bind(client),
    release: () => undefined,
  };
  const pool = { connect: () => Promise.resolve(lent), end: () => Promise.resolve() };
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool as never }) });
}

/** Begins a transaction whose statements find all rows by key. Postgres cannot estimate the lengths of array
 *  parameters, so it would replan many statements for each execution, which takes longer than the execution itself. The
 *  generic plan stays cached, so sequential scans, which suit only small tables, are disabled. */
const beginByKeys = `BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off`;

/** Runs `work` in a transaction. Commits when `work` resolves, and rolls back when `work` throws. */
export function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const commits = async (client: pg.PoolClient): Promise<Result> => {
    const result = await work(client);
    await commit(client);
    return result;
  };
  return begun('BEGIN', pool, commits);
}

/** Sends the commit immediately, even while earlier statements are running.
 *  @throws if an earlier statement failed */
export async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await client.query('COMMIT');
  if (command !== 'COMMIT') throw new Error('the transaction failed and was rolled back');
}

/** Runs `work` in a transaction. `work` looks up all rows by key and commits the transaction itself. Rolls back if
 *  `work` throws. */
export function inTransactionByKeys<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  return begun(beginByKeys, pool, work);
}

async function begun<Result>(
  begin: string,
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const [, result] = await together([client.query(begin), work(client)]);
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((cause: unknown) => {
      broken = new Error('the connection could not be rolled back', { cause });
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Like `inTransaction`, but uses an existing connection, which stays open. */
export async function inTransactionOf<Result>(
  client: pg.PoolClient,
  work: () => Promise<Result>,
): Promise<Result> {
  await client.query('BEGIN');
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // If the connection was lost, the server has already rolled back.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
