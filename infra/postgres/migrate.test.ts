import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withClient } from '#infra/testing/client.ts';
import { createEmptyDatabase, type TestDatabase } from '#infra/testing/database.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { migrate } from './migrate.ts';

let database: TestDatabase;
let directory: string;

beforeEach(async () => {
  database = await createEmptyDatabase();
  directory = mkdtempSync(join(tmpdir(), 'orch-migrations-'));
});

afterEach(async () => {
  await database.drop();
  rmSync(directory, { recursive: true });
});

function write(name: string, sql: string): void {
  writeFileSync(join(directory, name), sql);
}

async function rowsOf(sql: string): Promise<unknown[]> {
  return withClient(database.adminUrl, async (client) => (await client.query(sql)).rows);
}

const recorded = 'SELECT number, name FROM schema_migrations ORDER BY number';

describe('an empty database', () => {
  test('gets every migration in order and records each one', async () => {
    write('0002_b.sql', "INSERT INTO a VALUES (1); INSERT INTO a VALUES (2); SELECT ';';");
    write('0001_a.sql', 'CREATE TABLE a (id integer);');
    const outcome = await migrate(database.adminUrl, { directory });
    expect(outcome).toEqual({ applied: ['0001_a.sql', '0002_b.sql'], ahead: [] });
    expect(await rowsOf(recorded)).toEqual([
      { number: 1, name: '0001_a.sql' },
      { number: 2, name: '0002_b.sql' },
    ]);
    expect(await rowsOf('SELECT id FROM a ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }]);
  });

  test('gets each migration once when several processes migrate it concurrently', async () => {
    write('0001_a.sql', 'CREATE TABLE a (id integer); INSERT INTO a VALUES (1);');
    write('0002_b.sql', 'SELECT pg_sleep(0.05); INSERT INTO a VALUES (2);');
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () => migrate(database.adminUrl, { directory })),
    );
    expect(outcomes.flatMap((outcome) => outcome.applied)).toEqual(['0001_a.sql', '0002_b.sql']);
    expect(await rowsOf('SELECT id FROM a')).toHaveLength(2);
  });

  test('is unchanged by a failing migration, which the error names, and can then be migrated', async () => {
    write('0001_a.sql', 'CREATE TABLE a (id integer);');
    write('0002_b.sql', 'CREATE TABLE b (id integer); SELECT 1 / 0;');
    await expect(migrate(database.adminUrl, { directory })).rejects.toThrow(
      /0002_b\.sql.*division by zero/,
    );
    expect(await rowsOf(recorded)).toEqual([{ number: 1, name: '0001_a.sql' }]);
    write('0002_b.sql', 'CREATE TABLE b (id integer);');
    expect((await migrate(database.adminUrl, { directory })).applied).toEqual(['0002_b.sql']);
  });
});

describe('a migrated database', () => {
  beforeEach(async () => {
    write('0001_a.sql', 'CREATE TABLE a (id integer);');
    write('0002_b.sql', 'CREATE TABLE b (id integer);');
    await migrate(database.adminUrl, { directory });
  });

  test('is unchanged if there are no new files', async () => {
    expect(await migrate(database.adminUrl, { directory })).toEqual({ applied: [], ahead: [] });
  });

  test('is refused if an applied file was changed, and the file is named', async () => {
    write('0001_a.sql', 'CREATE TABLE a (id bigint);');
    await expect(migrate(database.adminUrl, { directory })).rejects.toThrow(
      /0001_a\.sql was changed/,
    );
  });

  test('reports files that an older release does not have', async () => {
    rmSync(join(directory, '0002_b.sql'));
    expect(await migrate(database.adminUrl, { directory })).toEqual({
      applied: [],
      ahead: ['0002_b.sql'],
    });
  });
});

describe('a folder of migrations', () => {
  test.each([
    [['0001_a.sql', '0003_c.sql'], /migration before 0003_c\.sql/],
    [['0002_b.sql'], /migration before 0002_b\.sql/],
    [['0001_a.sql', '0001_b.sql'], /0001_a\.sql and 0001_b\.sql have the same number/],
    [['1_a.sql'], /1_a\.sql is not named/],
  ])('is refused if it contains %j', async (names, message) => {
    for (const name of names) write(name, 'SELECT 1;');
    await expect(migrate(database.adminUrl, { directory })).rejects.toThrow(message);
    expect(await rowsOf("SELECT to_regclass('schema_migrations')::text AS found")).toEqual([
      { found: null },
    ]);
  });

  test('may contain other files', async () => {
    write('README.md', 'About migrations');
    mkdirSync(join(directory, 'drafts'));
    write('0001_a.sql', 'SELECT 1;');
    expect((await migrate(database.adminUrl, { directory })).applied).toEqual(['0001_a.sql']);
  });
});
