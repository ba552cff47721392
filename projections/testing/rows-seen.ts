import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';

/** How many rows of these tables a look goes through, as entries of indexes and as themselves. */
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

/** Those that this session has looked at, as far as it has not reported them yet. */
async function seenSoFar(db: ReadModels, tables: readonly string[]): Promise<number> {
  const { rows } = await sql<{ seen: number }>`
    SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int AS seen FROM pg_stat_xact_user_tables
    WHERE relname = ANY(${tables}::text[])`.execute(db);
  return rows[0]?.seen ?? 0;
}
