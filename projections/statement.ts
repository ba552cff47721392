/** Statements with fixed text, for queries that every command and request needs: the query builder would build their
 *  text each time. */
import { CompiledQuery } from 'kysely';
import type { ReadModels, Write } from './projection.ts';

/** Prepares a statement. @param text SQL whose values are `$1`, `$2` and so on
 *  @returns a function that executes the statement and returns its rows */
export function statement<Row = never>(text: string) {
  return async (db: ReadModels, ...values: readonly unknown[]): Promise<readonly Row[]> =>
    (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows;
}

/** Executes statements one after another. */
export async function write(db: ReadModels, writes: readonly Write[]): Promise<void> {
  for (const { text, values } of writes) {
    await db.executeQuery(CompiledQuery.raw(text, [...values]));
  }
}
