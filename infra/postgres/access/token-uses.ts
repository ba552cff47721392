/** Records when API tokens were last used. These times are not part of the history. */
import type { TokenId } from '#domain/kernel/ids.ts';
import type { Queryable } from '../database.ts';

// Skips locked rows. The next use of the token updates the row.
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
