/** Reads bodies with a hard limit, regardless of the declared length. */
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import type { TSchema } from 'typebox';
import type { BodyRule } from '../operation.ts';
import { problem, type Problem } from '../problem.ts';
import { bodyProblem, contentProblem } from '../validation.ts';

export const maxJsonBytes = 1024 * 1024;

/** The maximum number of bytes of a refused body that are discarded before the response. */
const maxDiscardedBytes = 32 * 1024 * 1024;

/** How long the rest of a refused body is discarded after the response. */
const maxDiscardingMs = 30_000;

/** Thrown if a raw body exceeds its limit. Aborts the handler, so that nothing is stored. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/** Thrown if the client disconnects before the body is complete. */
export class BodyCut extends Error {
  override readonly name = 'BodyCut';
}

export type ReadBody =
  | { readonly kind: 'json'; readonly value: unknown; readonly bytes: Uint8Array }
  | { readonly kind: 'raw'; readonly chunks: AsyncIterable<Uint8Array> };

/** Reads and parses the body according to the operation's rule. Does not read a raw body, because the handler reads
 *  it. */
export async function readBody(
  request: IncomingMessage,
  rule: BodyRule<TSchema>,
): Promise<ReadBody | Problem> {
  const isEmpty =
    request.headers['transfer-encoding'] === undefined &&
    Number(request.headers['content-length'] ?? 0) === 0;
  const mediaType = mediaTypeOf(request);
  if (isEmpty && rule.optional) return checked({}, new Uint8Array(), rule);
  if (rule.bytesOnly !== true) {
    if (request.headers['content-encoding'] !== undefined) return unsupported(rule);
    if (isJson(mediaType, rule)) return await readJson(request, rule);
  }
  if (rule.rawMaxBytes === undefined || !isBytes(mediaType, rule)) return unsupported(rule);
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > rule.rawMaxBytes) return tooLarge(rule.rawMaxBytes);
  return { kind: 'raw', chunks: limited(request, rule.rawMaxBytes) };
}

export function tooLarge(maxBytes: number): Problem {
  return problem('payload_too_large', `The body may have at most ${maxBytes} bytes.`);
}

function mediaTypeOf(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function isJson(mediaType: string, rule: BodyRule<TSchema>): boolean {
  return mediaType === 'application/json' || (rule.mediaTypes?.includes(mediaType) ?? false);
}

/** Whether the operation accepts bytes of this content type. The content type may be missing. */
function isBytes(mediaType: string, { bytesOnly, rawMediaTypes }: BodyRule<TSchema>): boolean {
  if (bytesOnly !== true || rawMediaTypes === undefined || rawMediaTypes.includes('*/*'))
    return true;
  return ['', 'application/octet-stream', ...rawMediaTypes].includes(mediaType);
}

function unsupported(rule: BodyRule<TSchema>): Problem {
  const json = rule.bytesOnly === true ? [] : ['application/json', ...(rule.mediaTypes ?? [])];
  const served = [...json, ...(rule.rawMediaTypes ?? [])].join(' or ');
  return problem(
    'unsupported_media_type',
    `Send the body as ${served}, without a content encoding.`,
  );
}

async function readJson(
  request: IncomingMessage,
  rule: BodyRule<TSchema>,
): Promise<ReadBody | Problem> {
  if (Number(request.headers['content-length'] ?? 0) > maxJsonBytes) return tooLarge(maxJsonBytes);
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of limited(request, maxJsonBytes)) chunks.push(chunk);
  } catch (error) {
    if (error instanceof BodyTooLarge) return tooLarge(maxJsonBytes);
    throw error;
  }
  const bytes = Buffer.concat(chunks);
  const parsed = parseJson(bytes);
  return 'value' in parsed ? checked(parsed.value, bytes, rule) : parsed;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Uint8Array): { readonly value: unknown } | Problem {
  try {
    return { value: JSON.parse(utf8.decode(bytes)) as unknown };
  } catch {
    return problem('malformed_json', 'The body is truncated, or is not JSON in UTF-8.');
  }
}

function checked(value: unknown, bytes: Uint8Array, rule: BodyRule<TSchema>): ReadBody | Problem {
  return (
    contentProblem(value, rule.anyText ?? false) ??
    bodyProblem(rule.schema, value) ?? { kind: 'json', value, bytes }
  );
}

async function* limited(
  request: IncomingMessage,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  let total = 0;
  // Keeps the request open after its body, so that a response can be sent.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Uint8Array;
    total += bytes.length;
    if (total > maxBytes) throw new BodyTooLarge();
    yield bytes;
  }
  if (!request.complete) throw new BodyCut();
}

/** Discards the rest of a body. @returns false if there is too much to discard before the response */
export async function discardRest(request: IncomingMessage): Promise<boolean> {
  if (request.complete || request.readableEnded) return true;
  if (Number(request.headers['content-length'] ?? 0) > maxDiscardedBytes) return false;
  let total = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      total += (chunk as Uint8Array).length;
      if (total > maxDiscardedBytes) return false;
    }
    return request.complete;
  } catch {
    return false;
  }
}

/** Discards the rest of a body after the response. If the server closed the connection immediately, a client that is
 *  still sending could lose the response. */
export function discardAfterResponse(request: IncomingMessage): void {
  const timer = setTimeout(() => request.socket.destroy(), maxDiscardingMs).unref();
  finished(request, () => clearTimeout(timer));
  request.resume();
}
