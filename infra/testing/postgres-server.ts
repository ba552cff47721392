/** One database server per test run. The first test that needs the server starts it, so that other tests do not have to
 *  wait. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '#infra/embedded/postgres.ts';
import { migrate } from '#infra/postgres/migrate.ts';
import { databaseUrl, withClient } from './client.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of a socket that responds to every connection with a `TestServerAnswer` as one line of JSON. */
    readonly testServerSocket: string;
  }
}

/** The server's URLs, or why the server is not available. */
export type TestServerAnswer = TestServer | { readonly error: string };

export interface TestServer {
  /** The administrator's URL of the template database. */
  readonly adminUrl: string;
  /** The services' URL of the same database. */
  readonly serviceUrl: string;
  readonly template: string;
}

interface RunningServer extends TestServer {
  stop(): Promise<void>;
}

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));

/** The global setup function of vitest. @returns the teardown function */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-test-'));
  chmodSync(folder, 0o711); // the server may have to run as another user
  let started: Promise<RunningServer> | undefined;
  const listener = createServer((socket) => {
    started ??= startServer(folder);
    socket.on('error', () => socket.destroy()); // a test that was stopped
    started.then(
      ({ adminUrl, serviceUrl, template }) =>
        socket.end(JSON.stringify({ adminUrl, serviceUrl, template })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    );
  });
  const path = join(folder, 'ask');
  await once(listener.listen(path), 'listening');
  listener.unref();
  project.provide('testServerSocket', path);
  return async () => {
    listener.close();
    const server = await started?.catch(() => undefined);
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

async function startServer(folder: string): Promise<RunningServer> {
  const given = process.env['ORCH_TEST_DATABASE_URL'];
  const server = given === undefined ? await startOwn(folder) : await useGiven(given);
  await migrate(server.adminUrl, { directory: MIGRATIONS });
  return server;
}

async function startOwn(folder: string): Promise<RunningServer> {
  const server = await startEmbeddedPostgres({
    directory: join(folder, 'postgres'),
    fallbackParent: join(folder, 'fallback'),
    durable: false,
  });
  const { adminUrl, serviceUrl } = server;
  return { adminUrl, serviceUrl, template: 'orchestrator', stop: () => server.stop() };
}

/** On an external server, the names of all databases and roles contain the name of this test run. They are removed when
 *  the test run ends. */
async function useGiven(url: string): Promise<RunningServer> {
  const name = `orch_test_${randomBytes(4).toString('hex')}`;
  await withClient(url, async (client) => {
    await client.query(`DO $$ BEGIN CREATE ROLE orch_app NOLOGIN;
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`);
    await client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${name}' IN ROLE orch_app`);
    await client.query(`CREATE DATABASE ${name}`);
  });
  const stop = (): Promise<void> =>
    withClient(url, async (client) => {
      const ours = 'SELECT datname FROM pg_database WHERE starts_with(datname, $1)';
      const { rows } = await client.query<{ datname: string }>(ours, [name]);
      for (const { datname } of rows) await client.query(`DROP DATABASE ${datname} WITH (FORCE)`);
      await client.query(`DROP ROLE ${name}`);
    });
  return {
    adminUrl: databaseUrl(url, name),
    serviceUrl: databaseUrl(url, name, { user: name, password: name }),
    template: name,
    stop,
  };
}
