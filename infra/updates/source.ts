/** Reads the files of a static repository from a folder or over HTTP. */
import { createReadStream } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Targets } from '#infra/outgoing/targets.ts';

const maxRedirects = 3;
/** The timeout while no data is received. */
const defaultSilenceMs = 30_000;

/** @param path the path within the repository
 *  @returns the complete content of the file. Reading a truncated file throws */
export type ReadRepository = (path: string) => Promise<AsyncIterable<Uint8Array>>;

/** @param url the repository's URL: `https:`, `http:` or `file:` */
export function repositoryAt(
  url: string,
  targets: Targets,
  silenceMs = defaultSilenceMs,
): ReadRepository {
  const base = new URL(url.endsWith('/') ? url : `${url}/`);
  if (base.protocol === 'file:') {
    const folder = fileURLToPath(base);
    return (path) => Promise.resolve(createReadStream(join(folder, path)));
  }
  const reach = { targets, silenceMs };
  return async (path) => await get(new URL(path, base), reach, maxRedirects);
}

interface Reach {
  readonly targets: Targets;
  readonly silenceMs: number;
}

async function get(
  url: URL,
  reach: Reach,
  redirectsLeft: number,
): Promise<AsyncIterable<Uint8Array>> {
  const response = await send(url, reach);
  const { statusCode = 0, headers } = response;
  const isRedirect = statusCode >= 300 && statusCode < 400 && headers.location !== undefined;
  if (isRedirect && redirectsLeft > 0) {
    response.destroy();
    const next = new URL(headers.location ?? '', url);
    if (url.protocol === 'https:' && next.protocol !== 'https:') {
      throw new Error(`${url.host} redirects away from HTTPS`);
    }
    return await get(next, reach, redirectsLeft - 1);
  }
  if (statusCode !== 200) {
    response.destroy();
    throw new Error(`${url.href} returned status ${statusCode}`);
  }
  return whole(response);
}

async function send(url: URL, { targets, silenceMs }: Reach): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // The host name is resolved once per request and once per redirect.
  const address = await targets.addressOf(host);
  return await new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = start({
      host: address,
      port: url.port,
      path: `${url.pathname}${url.search}`,
      ...(isIP(host) === 0 && { servername: host }),
      headers: { 'User-Agent': 'orchestrator', Host: url.host },
      agent: false,
      timeout: silenceMs,
    });
    request.once('timeout', () => request.destroy(new Error(`${url.host} does not respond`)));
    request.once('response', resolve);
    request.once('error', reject);
    request.end();
  });
}

async function* whole(response: IncomingMessage): AsyncGenerator<Uint8Array, void> {
  yield* response as AsyncIterable<Uint8Array>;
  if (!response.complete) throw new Error('the download was interrupted');
}
