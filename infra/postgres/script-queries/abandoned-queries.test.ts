/** Tests a query that cannot be interrupted. It uses a separate server, because a suspended process can block others on
 *  its server. */
import { groupId } from '#domain/testing/ids.ts';
import { startSeparateServer, type SeparateServer } from '#infra/testing/separate-server.ts';
import { untilTrue } from '#infra/testing/platform.ts';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ScriptQueries } from './script-queries.ts';

let queries: ScriptQueries;
let server: SeparateServer;
let pool: pg.Pool;
/** The server process that the test has suspended. */
let suspended: number | undefined;
beforeAll(async () => {
  server = await startSeparateServer();
  pool = new pg.Pool({ connectionString: server.serviceUrl });
  pool.on('error', () => undefined); // ends with the server
  queries = new ScriptQueries({
    url: server.serviceUrl,
    platform: pool,
    connections: 2,
    timeoutMs: 2_000,
    maxWaitMs: 100,
    lenient: false,
    metrics: { waited: () => undefined, ended: () => undefined },
    onIdleError: () => undefined,
  });
});
afterAll(async () => {
  resume();
  await queries.close();
  await pool.end();
  await server.stop();
});

test('a query that cannot be interrupted is abandoned and counts only against its group’s limit', async () => {
  const stuck = queries.run(groupId(1), 'SELECT count(*) FROM generate_series(1, 1e12::bigint)');
  stuck.catch(() => undefined);
  await suspendItsProcess();
  await expect(stuck).rejects.toThrow(/^The query took more than 2 s and could not be canceled/);
  expect(queries.abandoned).toBe(1);
  await expect(queries.run(groupId(1), 'SELECT 1')).rejects.toThrow(/This query waited 0.1 s/);
  const others = [2, 3].map((number) => queries.run(groupId(number), 'SELECT 1 AS one'));
  expect(await Promise.all(others)).toEqual([['{"one":1}'], ['{"one":1}']]);
  resume();
  await untilTrue('the query has ended', () => Promise.resolve(queries.abandoned === 0));
  expect(await queries.run(groupId(1), 'SELECT 1 AS one')).toEqual(['{"one":1}']);
});

async function suspendItsProcess(): Promise<void> {
  await untilTrue('the query runs', async () => {
    // Suspends the process only while it executes the query. A process suspended between two statements looks like a
    // lost connection.
    const { rows } = await pool.query<{ pid: number }>(
      String.raw`SELECT pid FROM pg_stat_activity JOIN queries.scopes ON pid = backend_pid
       WHERE state = 'active' AND query ~ 'queries\.run'`,
    );
    suspended = rows[0]?.pid;
    return suspended !== undefined;
  });
  process.kill(suspended!, 'SIGSTOP');
}

function resume(): void {
  if (suspended !== undefined) process.kill(suspended, 'SIGCONT');
  suspended = undefined;
}
