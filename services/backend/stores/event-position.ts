import type { Queryable } from '#infra/postgres/database.ts';

const read = `SELECT global_position FROM events
  ORDER BY transaction_id DESC, global_position DESC LIMIT 1`;

/** Position of the newest event; 0 where there is none. */
export async function newestPosition(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ global_position: number }>(read, []);
  return rows[0]?.global_position ?? 0;
}
