import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFullSocket } from '#infra/testing/full-socket.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { freePorts } from '#infra/testing/free-ports.ts';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Connection, DatabaseUnavailable } from './connection.ts';
import { isDatabaseAway } from './database-away.ts';
import { openDatabase } from './database.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function connecting(config: pg.ClientConfig): Promise<unknown> {
  const client: pg.Client = new Connection(config);
  client.on('error', () => undefined);
  const failure = await failureOf(client.connect());
  await client.end();
  return failure;
}

describe('a server error', () => {
  const raised = (state: string) =>
    failureOf(platform.pool.query(`DO $$ BEGIN RAISE EXCEPTION SQLSTATE '${state}'; END $$`));

  test.each(['08006', '53100', '53300', '57014', '57P01', '57P05', '58030', '25006', '25P03'])(
    'with SQLSTATE %s is an outage',
    async (state) => {
      expect(isDatabaseAway(await raised(state))).toBe(true);
    },
  );

  test.each(['22012', '23505', '25001', '28P01', '42601', '42P01', 'P0001', 'XX000'])(
    'with SQLSTATE %s is a permanent error',
    async (state) => {
      expect(isDatabaseAway(await raised(state))).toBe(false);
    },
  );
});

describe('a missing server response', () => {
  test('is an outage if no server listens, regardless of the operating system’s message', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'orch-away-'));
    const full = await startFullSocket(join(folder, '.s.PGSQL.5432'));
    const [port] = await freePorts(1);
    const errors = [
      await connecting({ host: '127.0.0.1', port }),
      await connecting({ host: 'nowhere.invalid' }),
      await connecting({ host: join(folder, 'nothing') }),
      await connecting({ host: folder }),
    ];
    await full.close();
    await rm(folder, { recursive: true });
    expect(errors).toEqual([
      expect.objectContaining({ code: 'ECONNREFUSED' }),
      expect.objectContaining({ code: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/) }),
      expect.objectContaining({ code: 'ENOENT' }),
      expect.objectContaining({ code: 'EAGAIN' }),
    ]);
    expect(errors.map(isDatabaseAway)).toEqual([true, true, true, true]);
  });

  test('is an outage if a server closes the connection, is silent, or does not support TLS', async () => {
    const closing = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    const silent = createServer((socket) => socket.on('error', () => undefined));
    const garbled = createServer((socket) => {
      socket.on('error', () => undefined);
      // The server accepts TLS, then sends invalid data during the handshake.
      socket.once('data', () => {
        socket.write('S');
        socket.once('data', () => socket.write('no handshake'));
      });
    });
    const servers = [closing, silent.listen(0, '127.0.0.1'), garbled.listen(0, '127.0.0.1')];
    for (const server of servers) if (!server.listening) await once(server, 'listening');
    const [a, b, c] = servers.map((server) => (server.address() as AddressInfo).port);
    const host = '127.0.0.1';
    const errors = [
      await connecting({ host, port: a }),
      await connecting({ host, port: b, connectionTimeoutMillis: 50 }),
      await connecting({ host, port: c, ssl: { rejectUnauthorized: false } }),
    ];
    for (const server of servers) server.close();
    expect(errors.map(isDatabaseAway)).toEqual([true, true, true]);
  });

  test('causes an error that gives the reason for every address tried', () => {
    const reasons = [new Error('connect ECONNREFUSED ::1:5432'), new Error('connect EHOSTDOWN')];
    const error = new DatabaseUnavailable(new AggregateError(reasons));
    expect(error.message).toBe('connect ECONNREFUSED ::1:5432, connect EHOSTDOWN');
  });

  test('is an outage if a connection breaks, or if a pool is exhausted', async () => {
    const { pool, close } = openDatabase(platform.serviceUrl, {
      connections: 1,
      applicationName: 'test',
      onIdleError: () => undefined,
    });
    const client = await pool.connect();
    const broken = failureOf(client.query('SELECT pg_sleep(60)'));
    (client as unknown as Connection).destroy(new Error('cut'));
    const next = failureOf(client.query('SELECT'));
    const errors = [await broken, await next];
    client.release(true);
    await close();
    errors.push(await failureOf(pool.query('SELECT')));
    errors.push(new Error('a round failed', { cause: errors[0] }));
    expect(errors.map(isDatabaseAway)).toEqual([true, true, true, true]);
  });
});

test('a connection that breaks after an invalid call does not disturb the process', async () => {
  const { pool, close } = openDatabase(platform.serviceUrl, {
    connections: 1,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  const clients: pg.PoolClient[] = [];
  pool.on('connect', (client) => void clients.push(client));
  expect(await failureOf(pool.query({ text: '', name: 1 } as never))).toBeInstanceOf(TypeError);
  expect(clients).toHaveLength(1);
  expect(() => clients[0]?.emit('error', new Error('cut'))).not.toThrow();
  await close();
});

test('an invalid call is a permanent error', async () => {
  const circular: { itself?: unknown } = {};
  circular.itself = circular;
  const errors = [
    await failureOf(platform.pool.query('SELECT $1::json', [circular])),
    await failureOf(platform.pool.query({ text: '', name: 1 } as never)),
    new TypeError('undefined is not a function'),
    'text',
  ];
  expect(errors[0]).toBeInstanceOf(TypeError);
  expect(errors.map(isDatabaseAway)).toEqual([false, false, false, false]);
});
