import createClient from 'openapi-fetch';
import { readApiError } from './api-error.ts';
import { refuseRequested } from './approval-requested.ts';
import { authorizedFetch } from './authorized-fetch.ts';
import { connection } from './connection.svelte.ts';
import type { paths } from './schema.d.ts';
import { keeper } from './tokens.ts';

/** Like `fetch`, with the access token. For content other than JSON, such as files and log downloads. */
export const sendAuthorized = authorizedFetch(keeper, (request) =>
  connection.watch(() => fetch(request)),
);

/** The typed API client. Wrap every call in {@link unwrap}. */
export const client = createClient<paths, 'application/json'>({ fetch: sendAuthorized });

interface Answer<Data> {
  data?: Data;
  response: Response;
}

/** Returns the body of a successful response.
 *  @throws ApiError for any other status; ApprovalRequested if a change waits for approval; TypeError if the server is
 *  unreachable */
export async function unwrap<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  return (await unwrapWithEtag(call)).data;
}

/** Returns the body and the `ETag` of a successful response. @throws the same errors as {@link unwrap} */
export async function unwrapWithEtag<Data>(
  call: Promise<Answer<Data>>,
): Promise<{ data: Data; etag: string | null }> {
  const { data, error, response } = (await call) as Answer<Data> & { error?: unknown };
  if (!response.ok) throw await readApiError(asUnread(response, error));
  refuseRequested(response.status, data);
  return { data: data as Data, etag: response.headers.get('etag') };
}

// Copies the response with the parsed body as its content, because the client has already consumed the original body.
function asUnread(response: Response, error: unknown): Response {
  const { status, statusText, headers } = response;
  return new Response(JSON.stringify(error ?? null), { status, statusText, headers });
}
