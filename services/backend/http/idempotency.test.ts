import { userId } from '#domain/testing/ids.ts';
import { createTestDatabase, type TestDatabase } from '#infra/testing/database.ts';
import { openDatabase, type Database } from '#infra/postgres/database.ts';
import { systemIds } from '#infra/system/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Idempotency, type KeyedRequest, type Rendered } from './idempotency.ts';

let db: TestDatabase;
let database: Database;
beforeAll(async () => {
  db = await createTestDatabase();
  database = openDatabase(db.serviceUrl, {
    connections: 4,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
});
afterAll(async () => {
  await database.close();
  await db.drop();
});

const hourMs = 60 * 60 * 1000;
const request = (key: string, gone = new AbortController().signal): KeyedRequest => ({
  key,
  userId: userId(),
  method: 'POST',
  path: '/api/v1/scripts',
  body: Buffer.from('{}'),
  shownOnce: [],
  gone,
});

function given() {
  const state = { nowMs: Date.UTC(2026, 0, 1), made: 0 };
  const clock = { now: () => new Date(state.nowMs) };
  const idempotency = new Idempotency({ database: database.pool, ids: systemIds, clock });
  const make =
    (status = 201) =>
    async (): Promise<Rendered> => {
      state.made += 1;
      await Promise.resolve();
      return { status, headers: { Location: '/x' }, body: String(state.made) };
    };
  return { state, idempotency, make };
}

describe('a request with an idempotency key', () => {
  test('gets the first response again within a day', async () => {
    const { state, idempotency, make } = given();
    const first = await idempotency.answer(request('a'), make());
    state.nowMs += 23 * hourMs;
    expect(await idempotency.answer(request('a'), make())).toMatchObject({ ...first });
    state.nowMs += 2 * hourMs;
    expect(await idempotency.answer(request('a'), make())).toMatchObject({ body: '2' });
    state.nowMs += hourMs;
    expect(await idempotency.answer(request('a'), make())).toMatchObject({ body: '2' });
  });

  test('gets a current response if no client received the first one', async () => {
    const { idempotency, make } = given();
    await idempotency.answer(request('gone', AbortSignal.abort()), make(202));
    const again = await idempotency.answer(request('gone'), make(200));
    expect(again).toMatchObject({ status: 200, body: '2' });
    expect(await idempotency.answer(request('gone'), make())).toMatchObject({ body: '2' });
  });

  test("is independent of another user's request with the same key", async () => {
    const { idempotency, make } = given();
    await idempotency.answer(request('b'), make());
    const other = await idempotency.answer({ ...request('b'), userId: userId(2) }, make());
    expect(other).toMatchObject({ body: '2' });
  });

  test('is executed again after an internal error', async () => {
    const { idempotency, make } = given();
    await idempotency.answer(request('c'), make(503));
    const broken = () => Promise.reject(new Error('broken'));
    await expect(idempotency.answer(request('c'), broken)).rejects.toThrow('broken');
    expect(await idempotency.answer(request('c'), make())).toMatchObject({ body: '2' });
  });

  test('gets the same refusal again', async () => {
    const { idempotency, make } = given();
    await idempotency.answer(request('d'), make(409));
    expect(await idempotency.answer(request('d'), make())).toMatchObject({ status: 409 });
  });

  test('is executed once when repeated concurrently', async () => {
    const { state, idempotency, make } = given();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => idempotency.answer(request('e'), make())),
    );
    expect(new Set(answers.map((one) => ('body' in one ? one.body : ''))).size).toBe(1);
    expect(state.made).toBe(1);
  });
});
