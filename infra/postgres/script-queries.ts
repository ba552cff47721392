/** Queries that scripts send to the platform's database: read-only, as a role that sees four views of one
 *  group, on connections of their own that are closed afterwards. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { ConnectionPool } from './connection.ts';
import type { Queryable } from './database.ts';
import { FairQueue, WaitedTooLong } from './fair-queue.ts';

export const maxQueryRows = 1_000;
const maxQueryBytes = 4 * 1024 * 1024;
/** What the database does not end by itself is cancelled from outside, so much later. */
const cancelAfterMs = 1_000;
const insufficientPrivilege = '42501';
const queryCanceled = '57014';

const statements = {
  gaps: `SELECT what FROM queries.gaps ORDER BY what LIMIT 3`,
  scope: `INSERT INTO queries.scopes (backend_pid, group_id) VALUES (pg_backend_pid(), $1)
    ON CONFLICT (backend_pid) DO UPDATE SET group_id = excluded.group_id
    RETURNING backend_pid`,
  // An administrator's parameters are left alone where the database has not handed them over.
  limit: `SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS limits (name, value)
    WHERE name <> ALL ($3) OR has_parameter_privilege(name, 'SET')`,
  begin: `BEGIN READ ONLY`,
  run: `SELECT line FROM queries.run($1, $2, $3) AS line`,
  unscope: `DELETE FROM queries.scopes WHERE backend_pid = $1`,
  cancel: `SELECT pg_cancel_backend($1)`,
};

/** Nothing of a query gets into the server's log: neither its text nor what messages quote of it. */
const handedOver = {
  log_min_messages: 'panic',
  log_min_error_statement: 'panic',
  temp_file_limit: '64MB',
};
const limits = {
  ...handedOver,
  work_mem: '4MB',
  hash_mem_multiplier: '1',
  max_parallel_workers_per_gather: '0',
};

/** What became of a query, for the metrics. */
export const queryOutcomes = ['answered', 'failed', 'timeout', 'busy', 'unavailable'] as const;
export type QueryOutcome = (typeof queryOutcomes)[number];

/** The query was not answered; the message says why. */
export class QueryRefused extends Error {
  override readonly name = 'QueryRefused';
  readonly outcome: Exclude<QueryOutcome, 'answered'>;

  constructor(outcome: QueryRefused['outcome'], message: string, cause?: unknown) {
    super(message, { cause });
    this.outcome = outcome;
  }
}

export interface QueryMetrics {
  /** A query got its turn. */
  readonly waited: (seconds: number) => void;
  readonly ended: (outcome: QueryOutcome) => void;
}

export interface ScriptQueriesOptions {
  /** The address with which services connect. */
  readonly url: string;
  /** The service's own connections, to cancel by. */
  readonly platform: Queryable;
  readonly connections: number;
  readonly timeoutMs: number;
  /** For a connection. */
  readonly maxWaitMs: number;
  /** Answer also where the database does not confine queries. */
  readonly lenient: boolean;
  readonly metrics: QueryMetrics;
  readonly onIdleError: (error: Error) => void;
}

export class ScriptQueries {
  readonly #options: ScriptQueriesOptions;
  readonly #pool: pg.Pool;
  readonly #queue: FairQueue;
  #isConfined = false;

  constructor(options: ScriptQueriesOptions) {
    const { url, connections, maxWaitMs, onIdleError } = options;
    this.#options = options;
    this.#queue = new FairQueue({ places: connections, maxWaitMs });
    this.#pool = new ConnectionPool({
      connectionString: url,
      max: connections,
      // Whatever a query has set goes with its connection.
      maxUses: 1,
      application_name: 'script queries',
    });
    this.#pool.on('error', onIdleError);
  }

  /** Queries that wait for a connection. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** The rows as JSON texts, of what `groupId` holds. @throws QueryRefused */
  async run(groupId: string, query: string): Promise<readonly string[]> {
    const { metrics } = this.#options;
    try {
      await this.#requireConfinement();
      const lines = await this.#runInTurn(groupId, query);
      metrics.ended('answered');
      return lines;
    } catch (error) {
      metrics.ended(error instanceof QueryRefused ? error.outcome : 'unavailable');
      throw error;
    }
  }

  /** Closes the connections; safe twice. */
  async close(): Promise<void> {
    if (!this.#pool.ended) await this.#pool.end();
  }

  /** Whoever administers the database can confine queries at any time, so that "no" is asked again. */
  async #requireConfinement(): Promise<void> {
    if (this.#isConfined || this.#options.lenient) return;
    const { rows } = await this.#options.platform.query<{ what: string }>(statements.gaps);
    this.#isConfined = rows.length === 0;
    if (this.#isConfined) return;
    const gaps = rows.map(({ what }) => what).join(', ');
    throw new QueryRefused(
      'unavailable',
      `Queries are off, because the database does not confine them (${gaps}). ` +
        'An administrator runs "orchestrator setup", or as a superuser "SELECT queries.confine()" in the database',
    );
  }

  async #runInTurn(groupId: string, query: string): Promise<readonly string[]> {
    const askedMs = performance.now();
    try {
      return await this.#queue.run(groupId, async () => {
        this.#options.metrics.waited((performance.now() - askedMs) / 1000);
        return await this.#runAlone(groupId, query);
      });
    } catch (error) {
      if (!(error instanceof WaitedTooLong)) throw error;
      const seconds = this.#options.maxWaitMs / 1000;
      throw new QueryRefused(
        'busy',
        `Too many queries are under way: this one waited ${seconds} s for its turn and was not started. Try again later`,
        error,
      );
    }
  }

  async #runAlone(groupId: string, query: string): Promise<readonly string[]> {
    const client = await this.#pool.connect();
    const over = new AbortController();
    let pid: number | undefined;
    try {
      const { rows } = await client.query<{ backend_pid: number }>(statements.scope, [groupId]);
      pid = rows[0]?.backend_pid;
      void this.#cancelLater(pid, over.signal);
      return await answerTo(client, query, this.#options.timeoutMs);
    } finally {
      over.abort();
      // The connection is closed, so nothing of it stays.
      client.release(true);
      await this.#options.platform.query(statements.unscope, [pid]);
    }
  }

  async #cancelLater(pid: number | undefined, signal: AbortSignal): Promise<void> {
    try {
      await wait(this.#options.timeoutMs + cancelAfterMs, undefined, { signal });
      await this.#options.platform.query(statements.cancel, [pid]);
    } catch {
      // It was over, or the database is gone.
    }
  }
}

async function answerTo(
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
    const { rows } = await client.query<{ line: string }>(statements.run, asked);
    return rows.map((row) => row.line);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    throw refusalOf(error, timeoutMs);
  } finally {
    await client.query('ROLLBACK').catch(() => undefined);
  }
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
