/** Records accepted one-time codes (RFC 6238), so that each code is accepted only once. */
import type { Queryable } from '../database.ts';

const accept = `INSERT INTO one_time_codes AS codes (user_id, last_step) VALUES ($1, $2)
  ON CONFLICT (user_id) DO UPDATE SET last_step = excluded.last_step
  WHERE codes.last_step < excluded.last_step`;

/** Accepts the code of a 30-second time step.
 *  @returns false if a code for this step or a later step was already accepted */
export async function acceptStep(db: Queryable, userId: string, step: number): Promise<boolean> {
  const { rowCount } = await db.query(accept, [userId, step]);
  return rowCount === 1;
}
