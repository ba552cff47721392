import { readApiError } from '#lib/api/api-error.ts';
import { sendAuthorized } from '#lib/api/client.ts';
import type { ConfigurationImport } from '#lib/api/types.ts';

const path = '/api/v1/system/config';

/** @param files whether to include the contents of script files
 *  @param at exports the configuration as of this time (RFC 3339); null exports the current configuration
 *  @throws ApiError 400 for a future time */
export async function exportConfiguration(files: boolean, at: string | null): Promise<Blob> {
  const query = new URLSearchParams({ files: String(files), ...(at !== null && { at }) });
  const response = await sendAuthorized(new Request(`${path}?${query}`));
  if (!response.ok) throw await readApiError(response);
  return response.blob();
}

/** @param dryRun reports the changes without making them
 *  @param prune deletes resources that the document does not contain
 *  @throws ApiError 400 or 422 for an invalid document, with the location of the error */
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
