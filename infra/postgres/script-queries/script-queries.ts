/** Runs queries that scripts send to the platform's database. The queries are read-only. They run as a role that sees
 *  four views of one group, each on a separate connection that is closed afterwards. */
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { ConnectionPool } from '../connection.ts';
import type { Queryable } from '../database.ts';
import { FairQueue, WaitedTooLong, type KeepPlace } from './fair-queue.ts';
import { answerTo, QueryRefused, type QueryOutcome } from './query-answer.ts';
import { untilGone, type Backend } from './query-backends.ts';
import { QueryCheck, type QueryChecker } from './query-check.ts';

/** How long after `statement_timeout` to cancel a query that is still running. */
const cancelAfterMs = 1_000;
/** How long after its cancellation to abandon a query that is still running. Some PostgreSQL code cannot be
 *  interrupted. */
const abandonAfterMs = 2_000;
const statements = {
  gaps: `SELECT what FROM queries.gaps ORDER BY what LIMIT 3`,
  scope: `INSERT INTO queries.scopes (backend_pid, group_id) VALUES (pg_backend_pid(), $1)
    ON CONFLICT (backend_pid) DO UPDATE SET group_id = excluded.group_id
    RETURNING backend_pid,
      (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started`,
  unscope: `DELETE FROM queries.scopes WHERE backend_pid = $1`,
  cancel: `SELECT pg_cancel_backend($1)`,
};

export interface QueryMetrics {
  /** Called when a query starts, with its wait time. */
  readonly waited: (seconds: number) => void;
  readonly ended: (outcome: QueryOutcome) => void;
}

export interface ScriptQueriesOptions {
  /** The URL that the services use. */
  readonly url: string;
  /** The service's own connections, used to cancel queries. */
  readonly platform: Queryable;
  readonly connections: number;
  readonly timeoutMs: number;
  /** The maximum wait for a connection. */
  readonly maxWaitMs: number;
  /** Whether to run queries even if the database does not restrict them. */
  readonly lenient: boolean;
  readonly metrics: QueryMetrics;
  readonly onIdleError: (error: Error) => void;
  /** Whether to permit unlisted syntax. Default: false. */
  readonly check?: QueryChecker;
}

export class ScriptQueries {
  readonly #options: ScriptQueriesOptions;
  readonly #pool: pg.Pool;
  readonly #queue: FairQueue;
  readonly #check: QueryChecker;
  readonly #closing = new AbortController();
  #isConfined = false;

  constructor(options: ScriptQueriesOptions) {
    const { url, connections, maxWaitMs, onIdleError } = options;
    this.#options = options;
    this.#check = options.check ?? new QueryCheck(options.platform);
    this.#queue = new FairQueue({ places: connections, maxWaitMs });
    this.#pool = new ConnectionPool({
      connectionString: url,
      max: connections,
      // The settings of a query are discarded with its connection.
      maxUses: 1,
      application_name: 'script queries',
    });
    this.#pool.on('error', onIdleError);
  }

  /** The number of queries that are waiting for a connection. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Runs a query on one group's data.
   *  @returns the rows as JSON texts
   *  @throws QueryRefused */
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

  /** The number of abandoned queries that are still running in the database. */
  get abandoned(): number {
    return this.#queue.kept;
  }

  /** Closes the connections. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#check.close();
    if (!this.#pool.ended) await this.#pool.end();
  }

  /** An operator can restrict queries at any time, so a negative result is not cached. */
  async #requireConfinement(): Promise<void> {
    if (this.#isConfined || this.#options.lenient) return;
    const { rows } = await this.#options.platform.query<{ what: string }>(statements.gaps);
    this.#isConfined = rows.length === 0;
    if (this.#isConfined) return;
    const gaps = rows.map(({ what }) => what).join(', ');
    throw new QueryRefused(
      'unavailable',
      `Queries are disabled because the database does not restrict them (${gaps}). ` +
        'Run "orchestrator setup", or run "SELECT queries.confine()" as a superuser of the database',
    );
  }

  async #runInTurn(groupId: string, query: string): Promise<readonly string[]> {
    const askedMs = performance.now();
    try {
      return await this.#queue.run(groupId, async (keepPlace) => {
        this.#options.metrics.waited((performance.now() - askedMs) / 1000);
        const problem = await this.#check.problemOf(query);
        if (problem !== undefined) throw new QueryRefused('failed', problem);
        return await this.#runAlone(groupId, query, keepPlace);
      });
    } catch (error) {
      if (!(error instanceof WaitedTooLong)) throw error;
      const seconds = this.#options.maxWaitMs / 1000;
      throw new QueryRefused(
        'busy',
        `Too many queries are running. This query waited ${seconds} s and was not started. Try again later`,
        error,
      );
    }
  }

  async #runAlone(
    groupId: string,
    query: string,
    keepPlace: KeepPlace,
  ): Promise<readonly string[]> {
    const { platform, timeoutMs } = this.#options;
    const client = await this.#pool.connect();
    const over = new AbortController();
    let backend: Backend | undefined;
    try {
      const { rows } = await client.query<Backend>(statements.scope, [groupId]);
      backend = rows[0];
      const answer = answerTo(client, query, timeoutMs);
      // The promise also rejects when the connection of an abandoned query is closed.
      answer.catch(() => undefined);
      const isLate = this.#cancelLater(backend, over.signal);
      const late = isLate.then((yes) => (yes ? this.#abandon(backend, keepPlace) : answer));
      return await Promise.race([answer, late]);
    } finally {
      over.abort();
      // The connection is closed, so that the query leaves no state behind.
      client.release(true);
      await platform.query(statements.unscope, [backend?.backend_pid]);
    }
  }

  /** @returns whether the query is still running after its cancellation */
  async #cancelLater(backend: Backend | undefined, signal: AbortSignal): Promise<boolean> {
    try {
      await wait(this.#options.timeoutMs + cancelAfterMs, undefined, { signal });
      await this.#options.platform.query(statements.cancel, [backend?.backend_pid]);
      await wait(abandonAfterMs, undefined, { signal });
      return true;
    } catch {
      // The query has finished, or the database is unavailable.
      return false;
    }
  }

  /** Other groups can use the slot. The query's group has one slot fewer until the backend exits. */
  #abandon(backend: Backend | undefined, keepPlace: KeepPlace): never {
    const { platform, timeoutMs } = this.#options;
    if (backend !== undefined) keepPlace(untilGone(platform, backend, this.#closing.signal));
    throw new QueryRefused(
      'timeout',
      `The query took more than ${timeoutMs / 1000} s and could not be canceled. ` +
        "It counts against the group's limit of concurrent queries until it ends",
    );
  }
}
