/** The last uses of API tokens. They are not part of the history. */
import type { TokenId } from '#domain/kernel/ids.ts';
import type { Queryable } from '../database.ts';

// Skips rows that are locked; the next use updates them.
const noteUses = `UPDATE api_tokens SET last_used_at = $2 WHERE token_id IN (
  SELECT token_id FROM api_tokens WHERE token_id = ANY($1::uuid[])
    AND (last_used_at IS NULL OR last_used_at < $2) FOR UPDATE SKIP LOCKED)`;

export async function noteTokenUses(
  db: Queryable,
  tokenIds: readonly TokenId[],
  at: Date,
): Promise<void> {
  await db.query(noteUses, [tokenIds, at]);
}
