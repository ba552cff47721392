import { randomUUID } from 'node:crypto';
import type { BusMessage } from '#domain/ports/bus.ts';
import type { LogChunk } from '#domain/ports/run-logs.ts';
import { PostgresBus } from '#infra/bus/postgres.ts';
import { createTestDatabase } from '#infra/testing/database.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openDatabase, type Database } from '../database.ts';
import { NotifyingRunLogs, type StatementFor } from './notifying-run-logs.ts';
import { PostgresRunLogs } from './run-logs.ts';

let database: Database;
let bus: PostgresBus;
let drop: () => Promise<void>;
let heard: BusMessage[];
let published: BusMessage[];

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  const onError = () => undefined;
  database = openDatabase(made.serviceUrl, {
    connections: 2,
    applicationName: 'test',
    onIdleError: onError,
  });
  bus = await PostgresBus.open({ url: made.serviceUrl, pool: database.pool, onError });
  bus.subscribe('log', (message) => heard.push(message));
});
beforeEach(() => {
  heard = [];
  published = [];
});
afterAll(async () => {
  await bus.close();
  await database.close();
  await drop();
});

const fromBus: StatementFor = (messages, proof) => bus.statementFor(messages, proof);

function told(statementFor: StatementFor | undefined): NotifyingRunLogs {
  const publish = (...messages: BusMessage[]) => void published.push(...messages);
  return new NotifyingRunLogs({ pool: database.pool, bus: { publish }, statementFor });
}

function chunk(text: string): LogChunk {
  const itemsJson = JSON.stringify([{ seq: 1, time: 'now', stream: 'stdout', text }]);
  return { runId: randomUUID(), firstSeq: 1, lastSeq: 1, bytes: text.length + 1, itemsJson };
}

const messageOf = ({ runId, firstSeq, lastSeq, itemsJson: items }: LogChunk) => ({
  topic: 'log' as const,
  runId,
  firstSeq,
  lastSeq,
  items,
});

/** Notifications arrive in the order of their commits. */
async function untilHeard(): Promise<void> {
  const last = new Promise((resolve) => bus.subscribe('queue', resolve));
  bus.publish({ topic: 'queue' });
  await last;
}

test('chunks that the database announces are not published again by the process', async () => {
  const chunks = [chunk('one'), chunk('two')];
  await told(fromBus).append(chunks);
  await untilHeard();
  expect(heard).toEqual(chunks.map(messageOf));
  expect(published).toEqual([]);
  const rows = await new PostgresRunLogs(database.pool).readChunks(chunks[0]?.runId ?? '', 1, 1);
  expect(rows).toEqual([chunks[0]]);
});

test('a chunk that is too large for a message is announced without its lines', async () => {
  const large = chunk('x'.repeat(10_000));
  await told(fromBus).append([large]);
  await untilHeard();
  const { items: _, ...announced } = messageOf(large);
  expect(heard).toEqual([announced]);
});

test('chunks that could not be stored cause no notification', async () => {
  const spoiled = { ...chunk('lost'), bytes: 2 ** 40 };
  await expect(told(fromBus).append([chunk('stored'), spoiled])).rejects.toThrow();
  await untilHeard();
  expect(heard).toEqual([]);
  expect(published).toEqual([]);
});

test('messages that the database cannot send are published by the process', async () => {
  const failing: StatementFor = () => ({ text: 'SELECT 1 / $1::int', values: ['0'] });
  for (const statementFor of [undefined, () => undefined, failing]) {
    published = [];
    const one = chunk('line');
    await told(statementFor).append([one]);
    await untilHeard();
    expect(published).toEqual([messageOf(one)]);
  }
});

test('an empty append causes no notification', async () => {
  await told(fromBus).append([]);
  await told(undefined).append([]);
  await untilHeard();
  expect([...heard, ...published]).toEqual([]);
});
