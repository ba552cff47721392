/** Stores each session's current refresh token and its session key (docs/adr/0018). A token presented again after its
 *  exchange is treated as stolen (RFC 9700, section 4.14.2). */
import type { SessionId } from '#domain/kernel/ids.ts';
import type { Queryable } from '../database.ts';

/** The lifetime of a refresh token in days. */
export const refreshTokenDays = 14;

/** During this period, the previous token can be exchanged again for the same successor. A response may be lost, and a
 *  browser that restores two tabs presents the same token twice. */
const graceSeconds = 10;

const statements = {
  keep: `INSERT INTO session_tokens (session_id, current_hash, key_hash, traded_at)
    VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
  keyHashes: `SELECT session_id, key_hash FROM session_tokens
    WHERE session_id = ANY($1) AND key_hash IS NOT NULL`,
  // If two exchanges are concurrent, the second waits, then finds that the token was already exchanged.
  trade: `UPDATE session_tokens
    SET previous_hash = current_hash, current_hash = $3, traded_at = $4
    WHERE session_id = $1 AND current_hash = $2 AND traded_at > $5`,
  look: `SELECT previous_hash = $2 AND current_hash = $3 AND traded_at > $4 AS repeated
    FROM session_tokens WHERE session_id = $1 AND traded_at > $5`,
  isCurrent: `SELECT FROM session_tokens
    WHERE session_id = $1 AND current_hash = $2 AND traded_at > $3`,
  purge: `DELETE FROM session_tokens WHERE session_id IN (
    SELECT session_id FROM session_tokens WHERE traded_at <= $1 ORDER BY traded_at LIMIT 1000)`,
};

export interface FirstToken {
  readonly sessionId: SessionId;
  /** SHA-256, lower-case hex. */
  readonly tokenHash: string;
  readonly keyHash: string;
}

/** Stores a session's first token and its key, before an event names the session. */
export async function storeFirstToken(
  db: Queryable,
  { sessionId, tokenHash, keyHash }: FirstToken,
  now: Date,
): Promise<void> {
  await db.query(statements.keep, [sessionId, tokenHash, keyHash, now]);
}

/** Returns the SHA-256 hashes of session keys in lower-case hex, by session ID. */
export async function readKeyHashes(
  db: Queryable,
  sessionIds: readonly SessionId[],
): Promise<ReadonlyMap<string, string>> {
  if (sessionIds.length === 0) return new Map();
  const { rows } = await db.query<{ session_id: string; key_hash: string }>(statements.keyHashes, [
    sessionIds,
  ]);
  return new Map(rows.map((row) => [row.session_id, row.key_hash]));
}

export interface TokenExchange {
  readonly sessionId: SessionId;
  readonly presentedHash: string;
  /** Every exchange of the same token must pass the same successor. */
  readonly nextHash: string;
  readonly now: Date;
}

/** Exchanges a token for its successor.
 *  @returns `reused` if the token was already exchanged or never belonged to the session; `expired` if the session has
 *  no recent token */
export async function exchangeToken(
  db: Queryable,
  { sessionId, presentedHash, nextHash, now }: TokenExchange,
): Promise<'traded' | 'reused' | 'expired'> {
  const oldest = oldestValid(now);
  const trade = [sessionId, presentedHash, nextHash];
  const { rowCount } = await db.query(statements.trade, [...trade, now, oldest]);
  if (rowCount === 1) return 'traded';
  const since = new Date(now.getTime() - graceSeconds * 1000);
  const { rows } = await db.query<{ repeated: boolean | null }>(statements.look, [
    ...trade,
    since,
    oldest,
  ]);
  const [row] = rows;
  if (row === undefined) return 'expired';
  return row.repeated === true ? 'traded' : 'reused';
}

/** Whether this is the session's current token. */
export async function isCurrentToken(
  db: Queryable,
  { sessionId, hash }: { readonly sessionId: SessionId; readonly hash: string },
  now: Date,
): Promise<boolean> {
  const { rowCount } = await db.query(statements.isCurrent, [sessionId, hash, oldestValid(now)]);
  return rowCount === 1;
}

/** Removes one batch of expired tokens.
 *  @returns whether there may be more */
export async function purgeSessionTokens(db: Queryable, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(statements.purge, [oldestValid(now)]);
  return rowCount === 1000;
}

/** Returns the expiry limit: tokens issued before this time have expired. */
export function oldestValid(now: Date): Date {
  return new Date(now.getTime() - refreshTokenDays * 24 * 60 * 60 * 1000);
}
