/** Statements of fixed text, for what every command and request asks: the query builder would make the
 *  text anew each time. */
import { CompiledQuery } from 'kysely';
import type { ReadModels, Write } from './projection.ts';

/** @param text SQL whose values are `$1`, `$2` and so on
 *  @returns a function that carries it out and gives its rows */
export function statement<Row = never>(text: string) {
  return async (db: ReadModels, ...values: readonly unknown[]): Promise<readonly Row[]> =>
    (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows;
}

/** Carries statements out, one after the other. */
export async function write(db: ReadModels, writes: readonly Write[]): Promise<void> {
  for (const { text, values } of writes) {
    await db.executeQuery(CompiledQuery.raw(text, [...values]));
  }
}
