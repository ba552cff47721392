/** Queries that scripts ask of the platform's database: read-only, as a role that sees four views of one
 *  group, on connections of their own that are closed afterwards. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { Queryable } from './database.ts';

export const maxQueryRows = 1_000;
const maxQueryBytes = 4 * 1024 * 1024;
const timeoutMs = 5_000;
/** What the database does not end by itself is cancelled from outside. */
const patienceMs = timeoutMs + 1_000;
const connections = 2;

const statements = {
  scope: `INSERT INTO queries.scopes (backend_pid, group_id) VALUES (pg_backend_pid(), $1)
    ON CONFLICT (backend_pid) DO UPDATE SET group_id = excluded.group_id
    RETURNING backend_pid`,
  begin: `BEGIN READ ONLY`,
  limit: `SELECT set_config('statement_timeout', $1, true), set_config('work_mem', '4MB', true),
    set_config('lock_timeout', $1, true)`,
  run: `SELECT line FROM queries.run($1, $2, $3) AS line`,
  unscope: `DELETE FROM queries.scopes WHERE backend_pid = $1`,
  cancel: `SELECT pg_cancel_backend($1)`,
};

/** The database did not carry the query out; the message says why. */
export class QueryRefused extends Error {
  override readonly name = 'QueryRefused';
}

export class ScriptQueries {
  readonly #pool: pg.Pool;
  readonly #platform: Queryable;

  /** @param platform the service's own connections, to cancel by */
  constructor(url: string, platform: Queryable, onIdleError: (error: Error) => void) {
    this.#platform = platform;
    this.#pool = new pg.Pool({
      connectionString: url,
      max: connections,
      // Whatever a query has set goes with its connection.
      maxUses: 1,
      application_name: 'script queries',
      connectionTimeoutMillis: patienceMs,
    });
    this.#pool.on('error', onIdleError);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** The rows as JSON texts, of what `groupId` holds. @throws QueryRefused */
  async run(groupId: string, query: string): Promise<readonly string[]> {
    const client = await this.#pool.connect();
    const over = new AbortController();
    let pid: number | undefined;
    try {
      const { rows } = await client.query<{ backend_pid: number }>(statements.scope, [groupId]);
      pid = rows[0]?.backend_pid;
      void this.#cancelLater(pid, over.signal);
      return await answerTo(client, query);
    } finally {
      over.abort();
      // The connection is closed, so nothing of it stays.
      client.release(true);
      await this.#platform.query(statements.unscope, [pid]);
    }
  }

  /** Closes the connections; safe twice. */
  async close(): Promise<void> {
    if (!this.#pool.ended) await this.#pool.end();
  }

  async #cancelLater(pid: number | undefined, signal: AbortSignal): Promise<void> {
    try {
      await wait(patienceMs, undefined, { signal });
      await this.#platform.query(statements.cancel, [pid]);
    } catch {
      // It was over, or the database is gone.
    }
  }
}

async function answerTo(client: pg.PoolClient, query: string): Promise<readonly string[]> {
  await client.query(statements.begin);
  try {
    await client.query(statements.limit, [String(timeoutMs)]);
    const asked = [query, maxQueryRows, maxQueryBytes];
    const { rows } = await client.query<{ line: string }>(statements.run, asked);
    return rows.map((row) => row.line);
  } catch (error) {
    if (error instanceof pg.DatabaseError) throw new QueryRefused(error.message, { cause: error });
    throw error;
  } finally {
    await client.query('ROLLBACK').catch(() => undefined);
  }
}
