import { readApiError } from './api-error.ts';
import { sendAuthorized } from './client.ts';

/** A file's content; `text` is null when it is not UTF-8. */
export interface FileContent {
  text: string | null;
  etag: string | null;
}

/** @throws ApiError 404 when there is no such file */
export async function readFile(scriptId: string, path: string): Promise<FileContent> {
  const response = await send(new Request(address(scriptId, path), { cache: 'no-store' }));
  const bytes = await response.arrayBuffer();
  return { text: decode(bytes), etag: response.headers.get('etag') };
}

/** Saves a file as raw bytes, so that large ones pass too.
 *  @param condition `If-Match` of the content that was edited, or null to write without a check
 *  @throws ApiError 412 when somebody else saved first */
export async function writeFile(
  scriptId: string,
  path: string,
  text: string,
  condition: string | null,
): Promise<string | null> {
  const headers = new Headers({ 'content-type': 'application/octet-stream' });
  if (condition) headers.set('if-match', condition);
  const request = new Request(address(scriptId, path), { method: 'PUT', headers, body: text });
  return (await send(request)).headers.get('etag');
}

async function send(request: Request): Promise<Response> {
  const response = await sendAuthorized(request);
  if (!response.ok) throw await readApiError(response);
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
