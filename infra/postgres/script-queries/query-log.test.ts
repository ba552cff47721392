/** The server never logs script queries, regardless of its log settings. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withClient } from '#infra/testing/client.ts';
import { untilTrue } from '#infra/testing/platform.ts';
import { startSeparateServer, type SeparateServer } from '#infra/testing/separate-server.ts';
import { groupId } from '#domain/testing/ids.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ScriptQueries } from './script-queries.ts';

let server: SeparateServer;
let pool: pg.Pool;
beforeAll(async () => {
  server = await startSeparateServer();
  pool = new pg.Pool({ connectionString: server.serviceUrl });
  pool.on('error', () => undefined); // ends with the server
  // The most verbose log settings of a server.
  await withClient(server.adminUrl, async (client) => {
    const database = 'ALTER DATABASE orchestrator SET';
    for (const [name, value] of Object.entries({
      log_statement: 'all',
      log_min_duration_statement: '0',
      log_min_messages: 'debug1',
      log_min_error_statement: 'debug1',
      log_error_verbosity: 'verbose',
      log_parameter_max_length: '-1',
      log_parameter_max_length_on_error: '-1',
      log_temp_files: '0',
      debug_print_plan: 'on',
      session_preload_libraries: 'auto_explain',
      'auto_explain.log_min_duration': '0',
      'auto_explain.log_nested_statements': 'on',
    })) {
      await client.query(`${database} ${name} = '${value}'`);
    }
  });
}, 120_000);
afterAll(async () => {
  await pool.end();
  await server.stop();
});

const log = () => readFileSync(join(server.directory, 'postgres.log'), 'utf8');

/** Waits until an entry written last is in the log file. All earlier entries are then in the file too. */
async function untilLogged(): Promise<void> {
  const mark = `mark ${log().length}`;
  await withClient(server.adminUrl, (client) => client.query(`SELECT '${mark}'`));
  await untilTrue('the log has the mark', () => Promise.resolve(log().includes(mark)));
}

const quoting: readonly (readonly [string, string])[] = [
  ['a value', `SELECT 'hidden-1'::integer`],
  ['a column', 'SELECT hidden_2 FROM scripts'],
  ['a word', 'SELECT 1 hidden_3 hidden_3'],
  ['the context', `SELECT repeat('hidden-4 ', 2)::json`],
  ['a comment', 'SELECT 1 / 0 /* hidden-5 */'],
  ['nothing, since it succeeds', `SELECT 'hidden-6' AS n`],
  ['temporary files', `SELECT count(DISTINCT 'hidden-7' || n) FROM generate_series(1, 300000) n`],
  ['a function that is refused', `SELECT pg_notify('hidden-8', 'x')`],
];

describe('the log of a server that logs all statements', () => {
  test('contains no part of a query', async () => {
    const queries = new ScriptQueries({
      url: server.serviceUrl,
      platform: pool,
      connections: 2,
      timeoutMs: 20_000,
      maxWaitMs: 20_000,
      lenient: false,
      metrics: { waited: () => undefined, ended: () => undefined },
      onIdleError: () => undefined,
    });
    for (const [, query] of quoting) await queries.run(groupId(), query).catch(() => undefined);
    await queries.close();
    await untilLogged();
    expect(log().match(/hidden.\d/g)).toBeNull();
  }, 180_000);

  test.each(quoting)(
    'would contain parts of the query on an ordinary connection: %s',
    async (_what, query) => {
      const hidden = /hidden.\d/.exec(query)?.[0] ?? '';
      await pool.query(`SELECT queries.run($1, 10, 1000)`, [query]).catch(() => undefined);
      await untilLogged();
      expect(log()).toContain(hidden);
    },
  );
});
