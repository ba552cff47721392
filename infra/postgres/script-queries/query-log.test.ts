/** The server never logs the queries of scripts, regardless of its log settings. */
import { mkdtempSync, chmodSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#infra/embedded/postgres.ts';
import { withClient } from '#infra/testing/client.ts';
import { untilTrue } from '#infra/testing/platform.ts';
import { groupId } from '#domain/testing/ids.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrate } from '../migrate.ts';
import { ScriptQueries } from './script-queries.ts';

let folder: string;
let server: EmbeddedPostgres;
let pool: pg.Pool;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orch-query-log-'));
  chmodSync(folder, 0o711);
  const options = { directory: join(folder, 'postgres'), fallbackParent: join(folder, 'fallback') };
  server = await startEmbeddedPostgres({ ...options, durable: false });
  const directory = fileURLToPath(new URL('../../../migrations', import.meta.url));
  await migrate(server.adminUrl, { directory });
  pool = new pg.Pool({ connectionString: server.serviceUrl });
  pool.on('error', () => undefined); // the server ends it at its own end
  // As talkative as a server can be.
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
  rmSync(folder, { recursive: true, force: true });
});

const log = () => readFileSync(join(folder, 'postgres', 'postgres.log'), 'utf8');

/** What was logged before is in the file when this is. */
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

describe('the log of a server that logs everything', () => {
  test('contains nothing of a query', async () => {
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

  test.each(quoting)('would contain %s of it on another connection', async (_what, query) => {
    const hidden = /hidden.\d/.exec(query)?.[0] ?? '';
    await pool.query(`SELECT queries.run($1, 10, 1000)`, [query]).catch(() => undefined);
    await untilLogged();
    expect(log()).toContain(hidden);
  });
});
