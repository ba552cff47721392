/** Statements with fixed SQL text, for queries that every command or request executes. The query builder would build
 *  the text again each time. */
import { CompiledQuery } from 'kysely';
import type { ReadModels, Write } from './projection.ts';

/** Prepares a statement.
 *  @param text SQL with the parameters `$1`, `$2` and so on
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
