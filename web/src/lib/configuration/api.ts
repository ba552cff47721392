import { readApiError } from '#lib/api/api-error.ts';
import { sendAuthorized } from '#lib/api/client.ts';
import type { ConfigurationImport } from '#lib/api/types.ts';

const path = '/api/v1/system/config';

/** @param files what is in the files of scripts, too
 *  @param at a time (RFC 3339): as it was then
 *  @throws ApiError 400 for a time that is yet to come */
export async function exportConfiguration(files: boolean, at: string | null): Promise<Blob> {
  const query = new URLSearchParams({ files: String(files), ...(at !== null && { at }) });
  const response = await sendAuthorized(new Request(`${path}?${query}`));
  if (!response.ok) throw await readApiError(response);
  return response.blob();
}

/** @param dryRun only tells what would be done
 *  @param prune deletes what the document does not have
 *  @throws ApiError 400 or 422 for a document that cannot be taken over, with the place */
export async function importConfiguration(
  document: Blob | string,
  { dryRun, prune }: { readonly dryRun: boolean; readonly prune: boolean },
): Promise<ConfigurationImport> {
  const request = new Request(`${path}?dry_run=${dryRun}&prune=${prune}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: document,
  });
  const response = await sendAuthorized(request);
  if (!response.ok) throw await readApiError(response);
  return (await response.json()) as ConfigurationImport;
}
