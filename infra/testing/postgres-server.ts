/** One database server per test run. The first test that needs it starts it, so that pure tests do not wait for it. */
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
    /** Responds to every connection with one line of JSON, a `TestServerAnswer`. */
    readonly testServerSocket: string;
  }
}

/** The address of the server, or why it is not available. */
export type TestServerAnswer = TestServer | { readonly error: string };

export interface TestServer {
  /** The administrator's address of the template database. */
  readonly adminUrl: string;
  /** The services' address of the same database. */
  readonly serviceUrl: string;
  readonly template: string;
}

interface RunningServer extends TestServer {
  stop(): Promise<void>;
}

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));

/** The global set-up of vitest. @returns its teardown */
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

/** On an external server, all databases and roles have the name of this test run, and are removed at its end. */
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
