import { openTestPlatform, untilTrue, type TestPlatform } from '#infra/testing/platform.ts';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from './database.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());

describe('a transaction whose connection Postgres closes', () => {
  test('fails if the connection closes during a statement, and the next transaction succeeds', async () => {
    const work = inTransaction(platform.pool, async (client) => {
      const pid = await backendOf(client);
      const statement = client.query('SELECT pg_sleep(60)');
      statement.catch(() => undefined); // awaited below
      await end(pid);
      await statement;
    });
    await expect(work).rejects.toMatchObject({ code: '57P01' });
    expect(await inTransaction(platform.pool, backendOf)).toBeGreaterThan(0);
  });

  test('fails if the connection closes between two statements, and the next transaction succeeds', async () => {
    const work = inTransaction(platform.pool, async (client) => {
      await end(await backendOf(client));
      await client.query('SELECT 1');
    });
    await expect(work).rejects.toThrow();
    expect(await inTransaction(platform.pool, backendOf)).toBeGreaterThan(0);
  });
});

describe('a transaction that throws', () => {
  test('is rolled back, and its connection is reused', async () => {
    const { pool } = platform;
    const work = inTransaction(pool, async (client) => {
      await client.query("INSERT INTO payloads (sha256, content) VALUES ('x', '')");
      throw new Error('no more');
    });
    await expect(work).rejects.toThrow('no more');
    expect((await pool.query('SELECT FROM payloads')).rowCount).toBe(0);
    expect([pool.idleCount, pool.waitingCount]).toEqual([pool.totalCount, 0]);
  });
});

test('a statement is prepared on its second use', async () => {
  const texts = await inTransaction(platform.pool, async (client) => {
    for (const number of [1, 2, 3]) await client.query(`SELECT $1 || '${number} once'`, ['']);
    for (const value of ['a', 'b']) await client.query(`SELECT $1 || ' again'`, [value]);
    const prepared = `SELECT statement FROM pg_prepared_statements WHERE statement LIKE 'SELECT $1 || %'`;
    return (await client.query<{ statement: string }>(prepared)).rows;
  });
  expect(texts).toEqual([{ statement: "SELECT $1 || ' again'" }]);
});

async function backendOf(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}

/** Terminates a backend and waits until it has exited. */
async function end(pid: number): Promise<void> {
  await platform.pool.query('SELECT pg_terminate_backend($1)', [pid]);
  await untilTrue('the backend has ended', async () => {
    const left = await platform.pool.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid]);
    return left.rowCount === 0;
  });
}
