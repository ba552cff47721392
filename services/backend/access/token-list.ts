/** The API tokens of a user. */
import { parseTokenId, type UserId } from '#domain/kernel/ids.ts';
import { listTokens } from '#projections/tokens/queries.ts';
import { keyOf, defaultLimit, pageReply, type ListRequest } from '../http/paging.ts';
import { isProblem } from '../http/problem.ts';
import type { Answer } from '../http/reply.ts';
import type { Services } from '../services.ts';
import { tokenJson } from './view.ts';

/** A page of a user's tokens. */
export async function tokensOf(
  userId: UserId,
  { url, limit, cursor }: Pick<ListRequest, 'url'> & Partial<Pick<ListRequest, 'limit' | 'cursor'>>,
  readModels: Services['readModels'],
): Promise<Answer> {
  const request = { list: 'tokens', filter: userId, url, limit, cursor };
  const after = keyOf(request, parseTokenId);
  if (isProblem(after)) return after;
  const rows = await listTokens(readModels, userId, after.key, (limit ?? defaultLimit) + 1);
  return pageReply(
    request,
    rows,
    (row) => row.token_id,
    (row) => ({ ...tokenJson(row), last_used_at: row.last_used_at }),
  );
}
