import { randomUUID } from 'node:crypto';
import type { BusMessage } from '#domain/ports/bus.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import { openDatabase, type Database } from '#infra/postgres/database.ts';
import { readSpans } from '#infra/postgres/logs/run-spans.ts';
import { createTestDatabase } from '#infra/testing/database.ts';
import type { Span } from '#services/shared/tracing/tracing.ts';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SdkContext } from '../call.ts';
import { spanCalls } from './spans.ts';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.serviceUrl, {
    connections: 2,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
});
afterAll(async () => {
  await database.close();
  await drop();
});

const queuedAt = new Date(Date.now() - 60_000);
const now = new Date();
const body = { sizeBytes: 0, chunks: (async function* () {})() };

function givenRun() {
  const runId = randomUUID();
  let shiftMs = 0;
  const exported: Span[] = [];
  const published: BusMessage[] = [];
  const call = spanCalls({
    database: database.pool,
    bus: { publish: (...messages) => void published.push(...messages) },
    clock: { now: () => new Date(now.getTime() + shiftMs) },
    tracing: { record: (span) => void exported.push(span) },
  })['spans'];
  if (call === undefined) throw new Error('there is no call');
  const context: SdkContext = {
    run: { runId, queuedAt, correlationId: randomUUID() } as unknown as ClaimedRun,
    log: {
      mask: () => undefined,
      masked: (text) => text.replaceAll('secret', '***'),
      maskedStart: (text) => text,
    },
    spend: () => true,
  };
  const send = (...spans: object[]) => call.handle({ spans }, context, body);
  const stored = () => readSpans(database.pool, [runId]);
  const shiftClock = (byMs: number) => (shiftMs = byMs);
  return { runId, exported, published, call, send, stored, shiftClock };
}

const idOf = (number: number) => number.toString(16).padStart(16, '0');
const span = (number: number, more: object = {}) => ({
  id: idOf(number),
  parent_id: null,
  name: 'fetch',
  started_at: now.getTime() - 1000,
  ended_at: null,
  failed: false,
  attributes: {},
  ...more,
});

test("nested spans stay within their parents when the platform's clock is adjusted", async () => {
  const { send, stored, shiftClock } = givenRun();
  await send(span(1));
  shiftClock(-500);
  await send(span(2, { parent_id: idOf(1) }));
  const [parent, child] = await stored();
  expect(child?.startedAt.getTime()).toBeGreaterThanOrEqual(parent?.startedAt.getTime() ?? NaN);
  expect(child).toMatchObject({ spanId: idOf(2), parentId: idOf(1) });
});

test('a span is stored at its start and at its end, and exported at its end', async () => {
  const { runId, exported, published, send, stored } = givenRun();
  await send(span(1), span(2, { parent_id: idOf(1) }));
  expect(exported).toEqual([]);
  const ended = { ended_at: now.getTime(), failed: true, attributes: { rows: 3 } };
  expect(await send(span(2, { parent_id: idOf(1), ...ended }))).toEqual({
    kind: 'value',
    value: { dropped: 0 },
  });
  expect(await stored()).toMatchObject([
    { runId, spanId: idOf(1), parentId: null, endedAt: null },
    { spanId: idOf(2), parentId: idOf(1), endedAt: expect.any(Date), failed: true },
  ]);
  expect(exported).toMatchObject([
    { spanId: idOf(2), parentSpanId: idOf(1), name: 'fetch', problem: 'exception' },
  ]);
  expect(exported[0]?.attributes).toMatchObject({ rows: 3, 'cicd.pipeline.run.id': runId });
  expect(published.at(-1)).toEqual({ topic: 'spans', runId });
});

test('a span ignores updates after its end', async () => {
  const { exported, send, stored } = givenRun();
  await send(span(1, { ended_at: now.getTime() }));
  await send(span(1, { ended_at: now.getTime(), failed: true }));
  await send(span(1));
  expect(await stored()).toMatchObject([{ failed: false, endedAt: expect.any(Date) }]);
  expect(exported).toHaveLength(1);
});

test('span names and attributes are masked, and characters that cannot be stored are replaced', async () => {
  const { send, stored } = givenRun();
  await send(span(1, { name: 'a secret\0', attributes: { secret: 'my secret\ud800', n: 1 } }));
  expect(await stored()).toMatchObject([
    { name: 'a ***\u2400', attributes: { '***': 'my ***\ufffd', n: 1 } },
  ]);
});

test('span times are limited to the duration of the run', async () => {
  const { send, stored } = givenRun();
  await send(
    span(1, { started_at: 0, ended_at: 1e14 }),
    span(2, { started_at: 1e14, ended_at: 0 }),
  );
  const [early, late] = await stored();
  expect(early).toMatchObject({ startedAt: queuedAt, endedAt: now });
  expect(late).toMatchObject({ startedAt: now, endedAt: now });
});

test('at most 1000 spans per run are recorded, and recorded spans can still be ended', async () => {
  const { send, stored } = givenRun();
  for (let first = 0; first < 1000; first += 50) {
    await send(...Array.from({ length: 50 }, (_, index) => span(first + index)));
  }
  expect(await send(span(1000), span(0, { ended_at: now.getTime() }))).toMatchObject({
    value: { dropped: 1 },
  });
  const spans = await stored();
  expect(spans).toHaveLength(1000);
  expect(spans.filter(({ endedAt }) => endedAt !== null)).toHaveLength(1);
});

test('span attributes of more than 4096 bytes are refused', async () => {
  const { send, stored } = givenRun();
  expect(await send(span(1), span(2, { attributes: { text: 'x'.repeat(4100) } }))).toMatchObject({
    kind: 'refused',
    code: 'limit_reached',
  });
  expect(await stored()).toEqual([]);
});

test.each([
  ['a long name', { name: 'x'.repeat(201) }],
  ['an empty name', { name: '' }],
  ['a malformed ID', { id: "1'; DROP TABLE runs" }],
  ['a malformed parent ID', { parent_id: 'x' }],
  ['a time that is not a number', { started_at: 'now' }],
  ['a time outside the range of dates', { ended_at: 1e300 }],
  ['nested attributes', { attributes: { a: { b: 1 } } }],
  [
    'too many attributes',
    { attributes: Object.fromEntries([...Array(33).keys()].map((n) => [n, n])) },
  ],
  ['an unknown field', { kind: 'platform' }],
])('a span is refused if it has %s', (_case, more) => {
  const { call } = givenRun();
  expect(Check(call.arguments, { spans: [span(1)] })).toBe(true);
  expect(Check(call.arguments, { spans: [span(1, more)] })).toBe(false);
});
