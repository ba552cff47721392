import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withClient } from '#infra/testing/client.ts';
import { createEmptyDatabase, type TestDatabase } from '#infra/testing/database.ts';
import { freePorts } from '#infra/testing/free-ports.ts';
import { startFullSocket } from '#infra/testing/full-socket.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const user = 'setup_test';
let database: TestDatabase;
let serviceUrl: string;
beforeAll(async () => {
  database = await createEmptyDatabase();
  serviceUrl = database.serviceUrl.replace(/\/\/[^@]*@/, `//${user}:p%40ss@`);
});
afterAll(async () => {
  await withClient(database.adminUrl, (client) =>
    client.query(`DROP OWNED BY ${user}; DROP ROLE ${user}`),
  );
  await database.drop();
});

function start(variables: Record<string, string>, ...command: readonly string[]) {
  const line = command.length === 0 ? ['setup'] : command;
  const { NODE_COMPILE_CACHE } = process.env;
  const env = { NODE_COMPILE_CACHE, ...variables };
  const child = spawn(process.execPath, [main, ...line], { env });
  const done = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return {
    child,
    done: done.then(([out, problem, [code]]) => ({ out, problem, code: code as number })),
  };
}

async function setup() {
  const variables = { ORCH_DATABASE_ADMIN_URL: database.adminUrl, ORCH_DATABASE_URL: serviceUrl };
  return await start(variables).done;
}

test('setup creates the schema and the user in an empty database once', async () => {
  const first = await setup();
  expect([first.code, first.problem]).toEqual([0, '']);
  expect(first.out).toMatch(/^migrated 0001_.*\n(migrated .*\n)+ready\n$/);
  await withClient(serviceUrl, (client) => client.query('SELECT FROM scripts'));
  await expect(
    withClient(serviceUrl, (client) => client.query('DELETE FROM events')),
  ).rejects.toThrow(/permission denied/);
  expect(await setup()).toEqual({ code: 0, out: 'ready\n', problem: '' });
});

test('setup reports missing settings, and a database user with too many privileges', async () => {
  const missing = await start({}).done;
  expect([missing.code, missing.problem]).toEqual([
    78,
    expect.stringMatching(/ORCH_DATABASE_ADMIN_URL is missing.*\nORCH_DATABASE_URL is missing/),
  ]);
  const { adminUrl } = database;
  const same = await start({ ORCH_DATABASE_ADMIN_URL: adminUrl, ORCH_DATABASE_URL: adminUrl }).done;
  expect(same.problem).toMatch(
    /name the same user: the services need a user with fewer privileges/,
  );
});

test('setup refuses a database of a newer release, and leaves it unchanged', async () => {
  await withClient(database.adminUrl, async (client) => {
    await client.query(
      `INSERT INTO schema_migrations (number, name, sha256) VALUES (9000, '9000_later.sql', 'x')`,
    );
    await client.query(`ALTER ROLE ${user} PASSWORD 'another'`);
  });
  const { code, problem } = await setup();
  expect(problem).toMatch(
    /newer version of this program \(.*9000_later.sql\). Nothing was changed/,
  );
  expect(code).toBe(65);
  await expect(withClient(serviceUrl, (client) => client.query('SELECT'))).rejects.toThrow(
    /password/,
  );
});

test('setup waits for an unavailable database, and names it', async () => {
  const [port] = await freePorts(1);
  const url = (name: string) => `postgres://${name}:secret@127.0.0.1:${port}/orchestrator`;
  const { child, done } = start({
    ORCH_DATABASE_ADMIN_URL: url('owner'),
    ORCH_DATABASE_URL: url('service'),
  });
  await once(child.stderr, 'data');
  child.kill('SIGINT');
  const { code, problem } = await done;
  expect(problem).toContain(
    `postgres://owner@127.0.0.1:${port}/orchestrator does not respond (connect ECONNREFUSED`,
  );
  expect(code).toBe(130);
});

describe('a database that accepts no connections', () => {
  let folder: string;
  let variables: Record<string, string>;
  let full: Awaited<ReturnType<typeof startFullSocket>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orch-setup-'));
    full = await startFullSocket(join(folder, '.s.PGSQL.5432'));
    const url = (name: string) => `postgres://${name}:secret@/orchestrator?host=${folder}`;
    variables = { ORCH_DATABASE_ADMIN_URL: url('owner'), ORCH_DATABASE_URL: url('service') };
  });
  afterAll(async () => {
    await full.close();
    await rm(folder, { recursive: true });
  });

  test('makes setup wait', async () => {
    const { child, done } = start(variables);
    await once(child.stderr, 'data');
    child.kill('SIGINT');
    const { code, problem } = await done;
    expect(problem).toContain('/orchestrator does not respond (connect EAGAIN');
    expect(code).toBe(130);
  });

  test('makes other commands fail with a message', async () => {
    const { code, problem } = await start(variables, 'projections', 'list').done;
    expect(problem).toMatch(/^The database does not respond \(connect EAGAIN .*\)\. Try again/);
    expect(code).toBe(69);
  });
});
