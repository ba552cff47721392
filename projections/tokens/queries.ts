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

/** Returns the valid tokens by hash. A valid token is neither revoked nor expired, and its owner is enabled. */
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

/** The data of a token that its owner may see. */
export type TokenView = TokensTable & { readonly last_used_at: Date | null };

/** Returns a token, or `undefined` if it does not exist or was revoked. */
export async function findToken(db: ReadModels, tokenId: TokenId): Promise<TokenView | undefined> {
  const [token] = await oneToken(db, tokenId);
  return token;
}

const oneToken = statement<TokenView>(
  'SELECT * FROM api_tokens WHERE token_id = $1 AND revoked_at IS NULL',
);

/** Lists the tokens of a user that were not revoked, newest first, starting after `after`. Returns at most `limit`
 *  tokens. */
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
