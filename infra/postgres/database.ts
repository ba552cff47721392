/** Connections to Postgres, shared by every adapter of a process. */
import { createHash } from 'node:crypto';
import { together } from '#projections/projection.ts';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { Connection, ConnectionPool } from './connection.ts';

// Positions and sizes stay far below 2^53. Transaction IDs may exceed this limit, so they are read as text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** An executor of statements: the pool, or the client of one transaction. */
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
  /** The application name that `pg_stat_activity` shows. */
  readonly applicationName: string;
  /** The time after which the server cancels a statement. Default: never. */
  readonly statementMs?: number;
  /** Called for connections that broke while idle; the pool replaces them automatically. */
  readonly onIdleError: (error: Error) => void;
}

/** Every repeated statement is prepared under a name derived from its text: parsed and planned once per connection.
 *  Statements of one turn of the event loop are sent in one write. */
class PreparingConnection extends Connection {
  #isGathering = false;

  // `query` has many overloads; only text with values gets a name.
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

/** The limit exceeds the number of the service's own statements. Each prepared statement permanently uses memory in
 *  this process and in Postgres. */
const maxNames = 2_000;
const names = new Map<string, string>();
/** Recent texts that were used once: a text with its values inlined is never used again. */
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

/** Opens a pool. Connections are opened on demand, so this works before Postgres is up. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const pool = new ConnectionPool({
    connectionString: url,
    Client: PreparingConnection,
    max: options.connections,
    // Statements that are sent without waiting for each other share a round trip.
    pipeline: true,
    application_name: options.applicationName,
    idleTimeoutMillis: 60_000,
    statement_timeout: options.statementMs ?? 0,
  });
  pool.on('error', options.onIdleError);
  let closing: Promise<void> | undefined;
  return { pool, close: () => (closing ??= pool.end()) };
}

/** The query builder over a pool, or over the client of one transaction. The caller ends the pool. */
export function queryBuilder<Tables>(pool: pg.Pool): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** The query builder inside a transaction that the caller began on `client`. */
export function queryBuilderOn<Tables>(client: pg.PoolClient): Kysely<Tables> {
  const lent = {
    query: client.query.bind(client),
    release: () => undefined,
  };
  const pool = { connect: () => Promise.resolve(lent), end: () => Promise.resolve() };
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool as never }) });
}

/** Begins a transaction whose statements find all rows by keys. Postgres guesses the lengths of array parameters, so
 *  it would plan many of these statements again for each execution, which takes longer than the execution. The
 *  generic plan stays in the cache, so sequential scans, which suit only small tables, are disabled. */
const beginByKeys = `BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off`;

/** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
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

/** Sends the commit immediately, even while earlier statements are running. @throws if one of them failed */
export async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await client.query('COMMIT');
  if (command !== 'COMMIT') throw new Error('the transaction failed and was rolled back');
}

/** Runs `work`, which commits itself and looks up all rows by key, in one transaction: rolled back if it throws. */
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

/** Like `inTransaction`, on an existing connection, which stays open. */
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
    // A lost connection has rolled back already.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
