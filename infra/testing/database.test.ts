import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseUrl, withClient } from './client.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

let one: TestDatabase;
let other: TestDatabase;

beforeAll(async () => {
  [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
});

afterAll(async () => {
  await Promise.all([one.drop(), other.drop()]);
});

describe('two test databases', () => {
  test('do not affect each other', async () => {
    await withClient(one.adminUrl, (client) => client.query('CREATE TABLE only_here (id integer)'));
    await expect(
      withClient(other.adminUrl, (client) => client.query('SELECT FROM only_here')),
    ).rejects.toThrow(/does not exist/);
  });

  test('have the complete schema', async () => {
    const { rows } = await withClient(one.serviceUrl, (client) =>
      client.query(
        "SELECT current_user <> 'orch_admin' AS plain, to_regclass('events') IS NOT NULL AS there",
      ),
    );
    expect(rows).toEqual([{ plain: true, there: true }]);
  });

  test.each([
    'CREATE TABLE mine (id integer)',
    'ALTER TABLE events ADD COLUMN mine integer',
    'UPDATE events SET data = data',
    'DELETE FROM events',
    'TRUNCATE events',
    'DROP TABLE events',
    'CREATE ROLE mine',
    "COPY (SELECT 1) TO PROGRAM 'true'",
  ])('refuse this statement from a service: %s', async (sql) => {
    await expect(withClient(one.serviceUrl, (client) => client.query(sql))).rejects.toThrow(
      /permission denied|must be owner/,
    );
  });
});

describe('databaseUrl', () => {
  test.each([
    ['postgres://u:p@/a?host=%2Frun&port=5432', 'postgres://u:p@/b?host=%2Frun&port=5432'],
    ['postgres://u:p@example.org:5433/a', 'postgres://u:p@example.org:5433/b'],
    ['postgresql://u@localhost', 'postgresql://u@localhost/b'],
  ])('replaces only the database name in %s', (url, expected) => {
    expect(databaseUrl(url, 'b')).toBe(expected);
  });
});
