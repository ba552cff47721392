import { client, unwrap } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type {
  AddedRepository,
  Repository,
  RepositoryChange,
  RepositoryHook,
  RepositoryInput,
  RepositorySync,
  SyncedCommit,
} from '#lib/api/types.ts';

const mergePatch = { 'content-type': 'application/merge-patch+json' };
const pathOf = (id: string) => ({ path: { repository_id: id } });
const onePath = '/api/v1/repositories/{repository_id}';

export async function listRepositories(): Promise<Repository[]> {
  return (await unwrap(client.GET('/api/v1/repositories'))).items;
}

export function createRepository(body: RepositoryInput): Promise<AddedRepository> {
  const params = { header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/repositories', { params, body }));
}

export function patchRepository(id: string, body: RepositoryChange): Promise<Repository> {
  return unwrap(client.PATCH(onePath, { params: pathOf(id), body, headers: mergePatch }));
}

export async function deleteRepository(id: string): Promise<void> {
  await unwrap(client.DELETE(onePath, { params: pathOf(id) }));
}

/** @param dryRun reports the changes without making them
 *  @param discard reverts changes that users made on the platform
 *  @throws ApiError 422 if the commit cannot be read or applied */
export function syncRepository(
  id: string,
  dryRun: boolean,
  discard = false,
): Promise<RepositorySync> {
  const params = { ...pathOf(id), query: { dry_run: dryRun, discard } };
  return unwrap(client.POST('/api/v1/repositories/{repository_id}/sync', { params }));
}

export async function listCommits(id: string): Promise<SyncedCommit[]> {
  const path = '/api/v1/repositories/{repository_id}/commits';
  return (await unwrap(client.GET(path, { params: pathOf(id) }))).items;
}

/** Rotates the webhook URL. The previous URL stops working immediately. */
export function rotateHook(id: string): Promise<RepositoryHook> {
  const path = '/api/v1/repositories/{repository_id}/rotate-hook';
  return unwrap(client.POST(path, { params: pathOf(id) }));
}
