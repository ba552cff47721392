/** Sends one HTTP request to an address that a user configured. Redirects are not followed. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Targets } from './targets.ts';

/** The maximum number of bytes read from a response. */
const maxAnswerBytes = 4096;

export interface Posted {
  readonly status: number;
  /** The beginning of the response body. */
  readonly text: string;
  readonly retryAfterSeconds: number | null;
  /** The target of a redirect. */
  readonly location: string | undefined;
}

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @param signal aborts at any stage
 *  @throws TargetRefused, or the error of the connection */
export async function post(
  { url, headers, body }: Post,
  targets: Targets,
  signal: AbortSignal,
): Promise<Posted> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const address = await targets.addressOf(host);
  signal.throwIfAborted();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send({
      host: address,
      port: url.port,
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      // The host name, not the address, identifies the receiver and its certificate.
      ...(isIP(host) === 0 && { servername: host }),
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'orchestrator',
        ...headers,
        Host: url.host,
        'Content-Length': Buffer.byteLength(body),
      },
      agent: false,
      signal,
    });
    request.once('response', resolve);
    request.once('error', reject);
    request.end(body);
  });
  const { statusCode: status = 0, headers: answered } = response;
  return {
    status,
    text: await beginningOf(response),
    retryAfterSeconds: secondsOf(answered['retry-after']),
    location: answered.location,
  };
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    // Leaving the loop closes the connection.
    if (bytes >= maxAnswerBytes) break;
  }
  return Buffer.concat(parts).subarray(0, maxAnswerBytes).toString('utf8');
}

function secondsOf(retryAfter: string | undefined): number | null {
  return retryAfter !== undefined && /^\d{1,7}$/.test(retryAfter) ? Number(retryAfter) : null;
}
