import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unnested } from './rows.ts';
import { openTestReads, type TestReads } from './testing/delivery.ts';

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
});
afterAll(() => reads.close());

/** Returns the value of a column as Postgres parses it. */
async function read(type: string, values: readonly unknown[]): Promise<readonly unknown[]> {
  const { rows } = await sql<{ value: unknown }>`
    SELECT * FROM unnest(${unnested(type, values)}) AS column_of (value)`.execute(reads.db);
  return rows.map((row) => row.value);
}

const storable = fc
  .string({ unit: 'grapheme' })
  .filter((text) => !text.includes('\0') && text.isWellFormed());

test('text is stored in the database unchanged', async () => {
  const awkward = ['', 'NULL', 'null', '"', '\\', '\\"', '{a,b}', ' x ', 'a\nb\tc', 'é😀', null];
  expect(await read('text', awkward)).toEqual(awkward);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(storable), { maxLength: 8 }), async (values) => {
      expect(await read('text', values)).toEqual(values);
    }),
  );
});

test('JSON is stored in the database unchanged', async () => {
  const values = [{ 'a"\\': ['{', '}', 'NULL'] }, [1, [2]], 'text', '', 0, true, null];
  expect(await read('jsonb', values)).toEqual(values);
});

test('times, numbers and booleans are stored in the database unchanged', async () => {
  const times = [new Date('2026-03-01T02:03:04.567Z'), null];
  expect(await read('timestamptz', times)).toEqual(times);
  const numbers = [0, -1, Number.MAX_SAFE_INTEGER, null];
  expect(await read('bigint', numbers)).toEqual(numbers);
  expect(await read('double precision', [0.1, 1e-9, 1e21])).toEqual([0.1, 1e-9, 1e21]);
  expect(await read('boolean', [true, false, null])).toEqual([true, false, null]);
});
