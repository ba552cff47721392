/** Detects dead connections. The server may be unreachable, or may acknowledge packets without responding. A
 *  slow statement is not interrupted, because the server reports that it is still executing that statement. */
import pg from 'pg';
import type { Connection } from './connection.ts';

const checkEveryMs = 500;
/** How long a connection may be silent before the server is checked. */
const silentMs = 4_000;
/** The timeout for connecting to the server and reading its activity. */
const askMs = 3_000;

const statements = {
  // Behind a connection pooler, clients see different process IDs than the server, so sessions cannot be identified.
  sessions: `SELECT pg_backend_pid() AS own, pid, state = 'active'
    AND wait_event IS DISTINCT FROM 'ClientRead' AS is_working
    FROM (SELECT) AS always LEFT JOIN pg_stat_activity ON pid = ANY($1)`,
  // The lost session may hold locks. The age check excludes a newer session that reuses the process ID.
  end: `SELECT pg_terminate_backend(pid) FROM unnest($1::int[], $2::float8[]) AS lost (pid, age_ms)
    JOIN pg_stat_activity USING (pid)
    WHERE clock_timestamp() - backend_start > (age_ms - 1000) * interval '1 ms'`,
};

interface Seen {
  bytesRead: number;
  /** When the connection last received a byte, or began to wait. */
  sinceMs: number;
}

class Watch {
  readonly #url: string;
  readonly #connections = new Map<Connection, Seen>();
  /** Sessions whose connections this process closed. The server may still consider them active. */
  readonly #lost = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;

  constructor(url: string) {
    this.#url = url;
  }

  add(connection: Connection): void {
    this.#connections.set(connection, { bytesRead: 0, sinceMs: performance.now() });
    connection.once('end', () => this.#connections.delete(connection));
    this.#timer ??= setInterval(() => this.#check(), checkEveryMs).unref();
  }

  #check(): void {
    const nowMs = performance.now();
    for (const [connection, seen] of this.#connections) {
      const { bytesRead } = connection;
      if (connection.isWaiting && bytesRead === seen.bytesRead) continue;
      seen.bytesRead = bytesRead;
      seen.sinceMs = nowMs;
    }
    const silent = this.#silentSince(nowMs - silentMs);
    if (this.#isAsking) return;
    if (silent.length > 0 || this.#lost.size > 0) {
      this.#isAsking = true;
      void this.#ask(silent).finally(() => (this.#isAsking = false));
    } else if (this.#connections.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  #silentSince(sinceMs: number): readonly Connection[] {
    const waiting = [...this.#connections].filter(([connection]) => connection.isWaiting);
    return waiting.filter(([, seen]) => seen.sinceMs < sinceMs).map(([connection]) => connection);
  }

  async #ask(silent: readonly Connection[]): Promise<void> {
    const sinceMs = performance.now() - silentMs;
    const working = await this.#workingOf(silent);
    // Connections that received data in the meantime are healthy.
    const lost = this.#silentSince(sinceMs).filter(
      (connection) => silent.includes(connection) && !working.has(connection.backendPid),
    );
    if (lost.length === 0) return;
    // If one connection is lost, idle connections may be lost too. Closing them loses no work.
    const unused = [...this.#connections.keys()].filter((connection) => !connection.isWaiting);
    for (const connection of [...lost, ...unused]) this.#giveUp(connection);
  }

  #giveUp(connection: Connection): void {
    const { backendPid, connectedMs } = connection;
    if (backendPid !== null) this.#lost.set(backendPid, connectedMs);
    connection.destroy(new Error('the server did not respond, so the connection was closed'));
  }

  /** Returns the active sessions, or an empty set if the server does not respond. */
  async #workingOf(silent: readonly Connection[]): Promise<{ has(pid: number | null): boolean }> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'connection watch',
      connectionTimeoutMillis: askMs,
      query_timeout: askMs,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const pids = silent.map(({ backendPid }) => backendPid);
      const { rows } = await client.query<Session>(statements.sessions, [pids]);
      await this.#endLost(client);
      const { processID } = client as unknown as { processID: number };
      if (rows[0]?.own !== processID) return { has: () => true };
      return new Set(rows.filter((row) => row.is_working).map((row) => row.pid));
    } catch (error) {
      // The server is reachable but refused the query, for example because of too many connections.
      return error instanceof pg.DatabaseError ? { has: () => true } : new Set();
    } finally {
      client.connection.stream.destroy();
    }
  }

  async #endLost(client: pg.Client): Promise<void> {
    if (this.#lost.size === 0) return;
    const lost = [...this.#lost];
    const nowMs = performance.now();
    const ages = lost.map(([, connectedMs]) => nowMs - connectedMs);
    for (const [pid] of lost) this.#lost.delete(pid);
    // This user may lack the permission to terminate sessions. The server then ends them after its own timeout.
    await client.query(statements.end, [lost.map(([pid]) => pid), ages]).catch(() => undefined);
  }
}

interface Session {
  readonly own: number;
  readonly pid: number | null;
  readonly is_working: boolean | null;
}

const watches = new Map<string, Watch>();

/** Watches a connection until it ends.
 *  @param url used to check the server over a separate connection */
export function watch(url: string, connection: Connection): void {
  let found = watches.get(url);
  if (found === undefined) watches.set(url, (found = new Watch(url)));
  found.add(connection);
}
