import type { TokenId, UserId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';
import type { UsersTable } from '../users/table.ts';
import type { TokensTable } from './table.ts';

/** A valid token, with the current data of its owner. */
export type LiveToken = Pick<TokensTable, 'token_id' | 'token_hash' | 'scopes' | 'expires_at'> &
  Pick<UsersTable, 'user_id' | 'email' | 'name' | 'role' | 'group_ids' | 'can_audit'> & {
    readonly token_name: string;
  };

/** The valid tokens, by hash: not revoked, not expired, and with an enabled owner. */
export async function findLiveTokens(
  db: ReadModels,
  hashes: readonly string[],
  now: Date,
): Promise<readonly LiveToken[]> {
  return await liveTokens(db, hashes, now);
}

const liveTokens = statement<LiveToken>(`
  SELECT t.token_id, t.token_hash, t.scopes, t.expires_at, t.name AS token_name, u.user_id, u.email, u.name,
    u.role, u.group_ids, u.can_audit
  FROM api_tokens t JOIN users u USING (user_id)
  WHERE t.token_hash = ANY($1) AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > $2)
    AND NOT u.disabled`);

/** A token as its owner sees it. */
export type TokenView = TokensTable & { readonly last_used_at: Date | null };

/** One token that was not revoked; `undefined` if it does not exist. */
export async function findToken(db: ReadModels, tokenId: TokenId): Promise<TokenView | undefined> {
  const [token] = await oneToken(db, tokenId);
  return token;
}

const oneToken = statement<TokenView>(
  'SELECT * FROM api_tokens WHERE token_id = $1 AND revoked_at IS NULL',
);

/** A user's tokens that were not revoked, newest first, starting after `after`; at most `limit` rows. */
export async function listTokens(
  db: ReadModels,
  owner: UserId,
  after: TokenId | undefined,
  limit: number,
): Promise<readonly TokenView[]> {
  return await tokensOf(db, owner, after ?? null, limit);
}

const tokensOf = statement<TokenView>(`
  SELECT * FROM api_tokens
  WHERE user_id = $1 AND revoked_at IS NULL AND ($2::uuid IS NULL OR token_id < $2)
  ORDER BY token_id DESC LIMIT $3`);
