import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';

/** Counts the rows of these tables that a query reads. Index entries and table rows count separately. */
export async function rowsSeen(
  db: ReadModels,
  tables: readonly string[],
  look: (db: ReadModels) => Promise<unknown>,
): Promise<number> {
  return await db.transaction().execute(async (transaction) => {
    const before = await seenSoFar(transaction, tables);
    await look(transaction);
    return (await seenSoFar(transaction, tables)) - before;
  });
}

/** Counts the rows that this session has read but not yet reported to the statistics. */
async function seenSoFar(db: ReadModels, tables: readonly string[]): Promise<number> {
  const { rows } = await sql<{ seen: number }>`
    SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int AS seen FROM pg_stat_xact_user_tables
    WHERE relname = ANY(${tables}::text[])`.execute(db);
  return rows[0]?.seen ?? 0;
}
