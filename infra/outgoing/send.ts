/** Sends one HTTP request to a URL that a user configured. Redirects are not followed. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Targets } from './targets.ts';

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** @param signal aborts the request at any stage
 *  @returns the response. The caller must read or destroy its body
 *  @throws TargetRefused, or the error of the connection */
export async function send(
  { method, url, headers, body }: OutgoingRequest,
  targets: Targets,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const address = await targets.addressOf(host);
  signal.throwIfAborted();
  return await new Promise<IncomingMessage>((resolve, reject) => {
    const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = start({
      host: address,
      port: url.port,
      path: `${url.pathname}${url.search}`,
      method,
      // The Host header and the certificate check use the host name rather than the address.
      ...(isIP(host) === 0 && { servername: host }),
      headers: {
        ...(body !== undefined && {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
        }),
        'User-Agent': 'orchestrator',
        ...headers,
        Host: url.host,
      },
      agent: false,
      signal,
    });
    request.once('response', resolve);
    request.once('error', reject);
    request.end(body);
  });
}

/** Returns the beginning of the response body, and closes the connection. */
export async function beginningOf(response: IncomingMessage, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    // Leaving the loop closes the connection.
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(parts).subarray(0, maxBytes).toString('utf8');
}
