import createClient from 'openapi-fetch';
import { readApiError } from './api-error.ts';
import { refuseRequested } from './approval-requested.ts';
import { authorizedFetch } from './authorized-fetch.ts';
import { connection } from './connection.svelte.ts';
import type { paths } from './schema.d.ts';
import { keeper } from './tokens.ts';

/** `fetch` with the access token, for content other than JSON (files, log downloads). */
export const sendAuthorized = authorizedFetch(keeper, (request) =>
  connection.watch(() => fetch(request)),
);

/** The typed client of the API; every call goes through {@link unwrap}. */
export const client = createClient<paths, 'application/json'>({ fetch: sendAuthorized });

interface Answer<Data> {
  data?: Data;
  response: Response;
}

/** The body of a successful response.
 *  @throws ApiError for any other status; ApprovalRequested if a change waits for an approval; TypeError when the server cannot be reached */
export async function unwrap<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  return (await unwrapWithEtag(call)).data;
}

/** The body and the `ETag` of a successful response.
 *  @throws like {@link unwrap} */
export async function unwrapWithEtag<Data>(
  call: Promise<Answer<Data>>,
): Promise<{ data: Data; etag: string | null }> {
  const { data, error, response } = (await call) as Answer<Data> & { error?: unknown };
  if (!response.ok) throw await readApiError(asUnread(response, error));
  refuseRequested(response.status, data);
  return { data: data as Data, etag: response.headers.get('etag') };
}

// The client has already read the body, so the parsed body is put into a new response.
function asUnread(response: Response, error: unknown): Response {
  const { status, statusText, headers } = response;
  return new Response(JSON.stringify(error ?? null), { status, statusText, headers });
}
