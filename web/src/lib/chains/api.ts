import { client, unwrap } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type { Chain, ChainChange, ChainOccurrence, NewChain, Page } from '#lib/api/types.ts';

/** Loads all visible chains from all pages, because an incomplete graph would be misleading. */
export async function listChains(): Promise<Chain[]> {
  const chains: Chain[] = [];
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = { limit: 200, ...(cursor && { cursor }) };
    const page: Page<Chain> = await unwrap(client.GET('/api/v1/chains', { params: { query } }));
    chains.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return chains;
}

/** @throws ApiError 422 if the chain would create a cycle */
export function createChain(body: NewChain): Promise<Chain> {
  const params = { header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/chains', { params, body }));
}

/** @throws ApiError 422 if the chain would create a cycle */
export function patchChain(id: string, body: ChainChange): Promise<Chain> {
  return unwrap(
    client.PATCH('/api/v1/chains/{chain_id}', {
      params: { path: { chain_id: id } },
      body,
      headers: { 'content-type': 'application/merge-patch+json' },
    }),
  );
}

export async function deleteChain(id: string): Promise<void> {
  const params = { path: { chain_id: id } };
  await unwrap(client.DELETE('/api/v1/chains/{chain_id}', { params }));
}

/** Lists the chain's reactions to finished runs, newest first. */
export function listChainOccurrences(
  id: string,
  cursor: string | null,
): Promise<Page<ChainOccurrence>> {
  const params = { path: { chain_id: id }, query: cursor ? { cursor } : {} };
  return unwrap(client.GET('/api/v1/chains/{chain_id}/occurrences', { params }));
}
