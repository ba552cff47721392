/** Builds responses that are written directly to a socket. Their bodies are problem documents (RFC 9457), like those of
 *  all other error responses. */
import { STATUS_CODES } from 'node:http';

const retryAfterSeconds = 2;

const details: Readonly<Record<number, readonly [code: string, detail: string]>> = {
  400: ['malformed_request', 'The request is not valid HTTP.'],
  408: ['request_timeout', 'The request timed out. Send it again.'],
  413: ['payload_too_large', 'The chunk extensions are too long.'],
  431: ['headers_too_large', 'The headers are too long.'],
  503: [
    'too_many_connections',
    `The server has too many connections. Try again in ${retryAfterSeconds} seconds.`,
  ],
};

/** Returns the text of a response for a connection that has no valid request. */
export function plainResponse(status: number): string {
  const title = STATUS_CODES[status] ?? '';
  const [code, detail] = details[status] ?? [];
  const type = `urn:orchestrator:problem:${code}`;
  const body = JSON.stringify({ type, title, status, detail, code });
  return [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    ...(status === 503 ? [`Retry-After: ${retryAfterSeconds}`] : []),
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
