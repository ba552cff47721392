import { openDatabase } from '#infra/postgres/database.ts';
import { createTestDatabase } from '#infra/testing/database.ts';
import type { BusMessage } from '#domain/ports/bus.ts';
import { afterAll, expect, test } from 'vitest';
import { busConformance } from '../conformance/bus.ts';
import { PostgresBus } from './postgres.ts';

let cleanUp: () => Promise<void>;
afterAll(() => cleanUp());

busConformance('on Postgres', async () => {
  const made = await createTestDatabase();
  const database = openDatabase(made.serviceUrl, {
    connections: 4,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  cleanUp = async () => {
    await database.close();
    await made.drop();
  };
  const open = () =>
    PostgresBus.open({
      url: made.serviceUrl,
      pool: database.pool,
      onError: (error) => {
        throw error;
      },
    });
  return [await open(), await open()];
});

/** Opens one process's bus on a separate database. */
async function givenBus() {
  const { serviceUrl, drop } = await createTestDatabase();
  const { pool, close } = openDatabase(serviceUrl, {
    connections: 1,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  const bus = await PostgresBus.open({ url: serviceUrl, pool, onError: () => undefined });
  const end = async () => {
    await bus.close();
    await close();
    await drop();
  };
  return { bus, pool, end };
}

test('the bus splits a large batch into several notifications, in order', async () => {
  const { bus, pool, end } = await givenBus();
  const seen: BusMessage[] = [];
  bus.subscribe('log', (message) => seen.push(message));
  const last = new Promise((resolve) => bus.subscribe('stop', resolve));
  const logs = [100, 3_900, 3_800, 10, 7_700, 7_700, 1].map((length, seq): BusMessage => ({
    topic: 'log',
    runId: 'r',
    firstSeq: seq,
    lastSeq: seq,
    items: 'x'.repeat(length),
  }));
  bus.publish(...logs, { topic: 'stop', runId: 'r' });
  await last;
  expect(seen).toEqual(logs);
  const alone = new Promise((resolve) => bus.subscribe('reload', resolve));
  await pool.query(`SELECT pg_notify('orch_bus', '{"topic":"reload"}')`);
  expect(await alone).toEqual({ topic: 'reload' });
  await end();
});

test('another connection can send messages if the proof query returns a row', async () => {
  const { bus, pool, end } = await givenBus();
  const seen: BusMessage[] = [];
  const last = new Promise((resolve) => bus.subscribe('status', resolve));
  for (const topic of ['events', 'queue', 'status'] as const) {
    bus.subscribe(topic, (message) => seen.push(message));
  }
  const messages: BusMessage[] = [
    { topic: 'events', types: ['RunQueued'] },
    { topic: 'queue' },
    { topic: 'queue' },
    { topic: 'status', runId: 'a "run"' },
  ];
  const notify = async (found: boolean) => {
    const proof = { text: 'SELECT WHERE $2::boolean', values: [String(found)] };
    const { text, values } = bus.statementFor(messages, proof) ?? { text: '', values: [] };
    await pool.query(text, [...values]);
  };
  await notify(false);
  await notify(true);
  await last;
  expect(seen).toEqual(messages.filter((_, index) => index !== 2));
  await bus.close();
  expect(bus.statementFor(messages, { text: 'SELECT', values: [] })).toBeUndefined();
  await end();
});
