import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withClient } from '#infra/testing/client.ts';
import {
  embeddedAddresses,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from './postgres.ts';

const isRoot = process.getuid?.() === 0;
const started: EmbeddedPostgres[] = [];
let folder: string;
let directory: string;
let said: string[];

// Most tests share a cluster, because creating one takes a second.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-embedded-'));
  chmodSync(folder, 0o711);
});

afterAll(() => rmSync(folder, { recursive: true }));

beforeEach(() => {
  directory = join(folder, 'postgres');
  said = [];
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const fallbackParent = join(folder, 'fallback');
  const say = (line: string): void => void said.push(line);
  const server = await startEmbeddedPostgres({
    directory,
    durable: false,
    fallbackParent,
    say,
    ...options,
  });
  started.push(server);
  return server;
}

async function value(url: string, sql: string): Promise<unknown> {
  const { rows } = await withClient(url, (client) => client.query({ text: sql, rowMode: 'array' }));
  return (rows as unknown[][])[0]?.[0];
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

describe('a first start', () => {
  test('starts a server with the expected settings', async () => {
    const { adminUrl, serviceUrl } = await start();
    expect(await value(serviceUrl, 'SELECT current_user')).toBe('orch_service');
    expect(await value(adminUrl, 'SELECT current_user')).toBe('orch_admin');
    expect(await value(adminUrl, 'SHOW listen_addresses')).toBe('');
    expect(await value(adminUrl, 'SHOW data_checksums')).toBe('on');
    expect(await value(adminUrl, 'SHOW server_encoding')).toBe('UTF8');
    expect(await value(adminUrl, "SELECT pg_has_role('orch_service', 'orch_app', 'MEMBER')")).toBe(
      true,
    );
    expect(statSync(join(directory, 'cluster.json')).mode & 0o777).toBe(0o600);
    expect(embeddedAddresses(directory)).toEqual({ adminUrl, serviceUrl });
  });

  test('refuses socket connections without a password', async () => {
    const { serviceUrl, adminUrl } = await start();
    for (const url of [
      serviceUrl.replace(/:[^:@]+@/, ':wrong@'),
      adminUrl.replace(/:[^:@]+@/, '@'),
    ]) {
      await expect(value(url, 'SELECT 1')).rejects.toThrow(/password/);
    }
  });

  test('can be repeated after an interruption', async () => {
    directory = join(folder, 'cut');
    await (await start()).stop();
    writeFileSync(join(directory, 'data.unfinished'), '');
    rmSync(join(directory, 'data', 'global'), { recursive: true });
    const { serviceUrl } = await start();
    expect(await value(serviceUrl, 'SELECT 1')).toBe(1);
  });

  test('places the socket in another folder if its path is too long', async () => {
    const server = await start({ directory: join(folder, 'd'.repeat(120)) });
    expect(await value(server.serviceUrl, 'SELECT 1')).toBe(1);
    await server.stop();
    const sockets = /host=([^&]+)/.exec(server.serviceUrl)?.[1];
    expect(existsSync(decodeURIComponent(String(sockets)))).toBe(false);
  });

  test.runIf(isRoot)(
    'places the data in another folder if the server cannot enter the given folder',
    async () => {
      const closed = join(folder, 'closed');
      mkdirSync(closed, { mode: 0o700 });
      directory = join(closed, 'postgres');
      const first = await start();
      await value(first.adminUrl, 'CREATE TABLE kept AS SELECT 7 AS id');
      await first.stop();
      const second = await start();
      expect(await value(second.adminUrl, 'SELECT id FROM kept')).toBe(7);
      expect(said).toEqual([expect.stringContaining(`cannot access ${directory}`)]);
      expect(existsSync(join(directory, 'data'))).toBe(false);
    },
  );
});

describe('a running server', () => {
  test('reports when it was killed, and can be started again', async () => {
    const server = await start({ durable: true });
    await value(server.adminUrl, 'CREATE TABLE survivor AS SELECT 7 AS id');
    process.kill(server.pid(), 'SIGKILL');
    expect(await server.exited()).toEqual({ code: null, signal: 'SIGKILL' });
    await server.restart();
    expect(await value(server.adminUrl, 'SELECT id FROM survivor')).toBe(7);
  });

  test('stops even with open sessions, and can be stopped twice', async () => {
    const server = await start();
    await withClient(server.adminUrl, async (client) => {
      client.on('error', () => undefined); // the session ends
      await server.stop();
    });
    expect(isAlive(server.pid())).toBe(false);
    await server.stop();
  });

  test('is stopped before a second start proceeds', async () => {
    const first = await start();
    const second = await start();
    expect(isAlive(first.pid())).toBe(false);
    expect(await value(second.serviceUrl, 'SELECT 1')).toBe(1);
    expect(said).toEqual([expect.stringContaining(`(${first.pid()})`)]);
  });
});

describe('the files of a killed server', () => {
  test('never cause another program that reuses the process ID to be stopped', async () => {
    await (await start()).stop();
    writeFileSync(join(directory, 'data', 'postmaster.pid'), `${process.pid}\n`);
    const { serviceUrl } = await start();
    expect(await value(serviceUrl, 'SELECT 1')).toBe(1);
  });

  test('are not overwritten if the passwords are missing', async () => {
    await (await start()).stop();
    rmSync(join(directory, 'cluster.json'));
    await expect(start()).rejects.toThrow(/cluster\.json/);
    expect(existsSync(join(directory, 'data', 'PG_VERSION'))).toBe(true);
  });
});
