import { PostgresBus } from '#infra/bus/postgres.ts';
import { withClient } from '#infra/testing/client.ts';
import { createTestDatabase, type TestDatabase } from '#infra/testing/database.ts';
import type { FaultProxy } from '#infra/testing/fault-proxy.ts';
import { untilTrue } from '#infra/testing/platform.ts';
import { proxied } from '#infra/testing/proxied-database.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DatabaseUnavailable } from './connection.ts';
import { openDatabase, type Database } from './database.ts';

let made: TestDatabase;
let proxy: FaultProxy;
let url: string;
let database: Database;
beforeAll(async () => {
  made = await createTestDatabase();
  ({ proxy, url } = await proxied(made.serviceUrl));
  database = openDatabase(url, {
    connections: 4,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
});
afterAll(async () => {
  await database.close();
  await proxy.close();
  await made.drop();
});

test('a connection that stops responding is replaced, and its session is terminated', async () => {
  const { pool } = database;
  const [holder, idle] = [await pool.connect(), await pool.connect()];
  idle.release();
  await holder.query('BEGIN; SELECT pg_advisory_xact_lock(7)');
  await proxy.set({ kind: 'blackhole' });
  await expect(holder.query('SELECT 1')).rejects.toBeInstanceOf(DatabaseUnavailable);
  holder.release(true);
  // The idle connection is closed as well, because it may also be lost.
  expect(pool.totalCount).toBe(0);
  await proxy.set({ kind: 'pass' });
  expect((await pool.query<{ one: number }>('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  await withClient(made.serviceUrl, (client) => client.query('SELECT pg_advisory_lock(7)'));
});

test('a slow statement is not interrupted while the server is working on it', async () => {
  const answer = await database.pool.query<{ slept: string }>(
    `SELECT pg_sleep(6)::text || 'slept' AS slept`,
  );
  expect(answer.rows).toEqual([{ slept: 'slept' }]);
});

test('a listening connection that stops responding is replaced', async () => {
  const bus = await PostgresBus.open({ url, pool: database.pool, onError: () => undefined });
  const woken = new Promise((resolve) => bus.subscribe('events', resolve));
  await proxy.set({ kind: 'blackhole' });
  await untilTrue('the silence is noticed', () => Promise.resolve(bus.problem !== undefined));
  await proxy.set({ kind: 'pass' });
  await woken;
  expect(bus.problem).toBeUndefined();
  await bus.close();
});
