import { ApiError, readApiError } from '#lib/api/api-error.ts';
import { refuseRequested } from '#lib/api/approval-requested.ts';
import { sendAuthorized } from '#lib/api/client.ts';

/** The content of a file; `text` is null if the content is not UTF-8. */
export interface FileContent {
  text: string | null;
  etag: string | null;
}

/** @param version the script version; the current version by default
 *  @throws ApiError 404 if the file does not exist */
export async function readFile(
  scriptId: string,
  path: string,
  version?: number,
): Promise<FileContent> {
  const query = version === undefined ? '' : `?version=${version}`;
  const url = `${address(scriptId, path)}${query}`;
  const response = await send(new Request(url, { cache: 'no-store' }));
  const bytes = await response.arrayBuffer();
  return { text: decode(bytes), etag: response.headers.get('etag') };
}

/** Returns the text of the current file. The text is empty if the file does not exist or is not UTF-8. */
export async function readCurrentFile(scriptId: string, path: string): Promise<string> {
  try {
    return (await readFile(scriptId, path)).text ?? '';
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return '';
    throw error;
  }
}

/** Saves a file as raw bytes, so that large files are accepted.
 *  @param condition the `If-Match` value of the edited content, or null to write unconditionally
 *  @throws ApiError 412 if another user has saved the file in the meantime */
export async function writeFile(
  scriptId: string,
  path: string,
  content: string | Blob,
  condition: string | null,
): Promise<string | null> {
  const headers = new Headers({ 'content-type': 'application/octet-stream' });
  if (condition) headers.set('if-match', condition);
  const request = new Request(address(scriptId, path), { method: 'PUT', headers, body: content });
  return (await send(request)).headers.get('etag');
}

/** @param condition the `If-Match` value, or null to move unconditionally
 *  @throws ApiError 409 if a file exists at `to` */
export async function moveFile(
  scriptId: string,
  path: string,
  to: string,
  condition: string | null,
): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    ...(condition && { 'if-match': condition }),
  };
  const body = JSON.stringify({ to });
  await send(new Request(`${address(scriptId, path)}/move`, { method: 'POST', headers, body }));
}

/** @param condition the `If-Match` value, or null to delete unconditionally
 *  @throws ApiError 409 if the file is the script's only file */
export async function deleteFile(
  scriptId: string,
  path: string,
  condition: string | null,
): Promise<void> {
  const headers = new Headers(condition ? [['if-match', condition]] : []);
  await send(new Request(address(scriptId, path), { method: 'DELETE', headers }));
}

async function send(request: Request): Promise<Response> {
  const response = await sendAuthorized(request);
  if (!response.ok) throw await readApiError(response);
  if (response.status === 202) refuseRequested(response.status, await response.json());
  return response;
}

function address(scriptId: string, path: string): string {
  const parts = path.split('/').map(encodeURIComponent).join('/');
  return `/api/v1/scripts/${scriptId}/files/${parts}`;
}

function decode(bytes: ArrayBuffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
