/** Reads one request from a script: a line of JSON, followed by the announced number of bytes. Both are validated and
 *  limited before they are processed. */
import type { Socket } from 'node:net';

export const maxLineBytes = 1024 * 1024;
const newline = 0x0a;

/** Thrown if the script disconnected before it sent the complete request. */
export class RequestCut extends Error {
  override readonly name = 'RequestCut';
}

export interface SdkRequest {
  readonly call: string;
  /** The arguments, which have not been validated yet. */
  readonly given: unknown;
  readonly sizeBytes: number;
  /** The request's bytes. They are read as the consumer requests them.
   *  @throws RequestCut */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Reads a request.
 *  @param timeoutMs the maximum pause between two chunks of the request
 *  @returns the request, or a sentence that describes the problem
 *  @throws RequestCut if the script disconnects before the request is complete */
export async function readRequest(socket: Socket, timeoutMs: number): Promise<SdkRequest | string> {
  socket.setTimeout(timeoutMs, () => socket.destroy(new RequestCut('the script stopped sending')));
  const pieces = socket.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
  const line: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const { value, done } = await pieces.next();
    if (done === true) throw new RequestCut('the connection ended before the request');
    const end = value.indexOf(newline);
    line.push(end === -1 ? value : value.subarray(0, end));
    bytes += value.length;
    if (end !== -1) return parsed(Buffer.concat(line), value.subarray(end + 1), pieces);
    if (bytes > maxLineBytes) return `A request may have at most ${maxLineBytes} bytes.`;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parsed(
  line: Buffer,
  first: Buffer,
  pieces: AsyncIterator<Buffer, undefined>,
): SdkRequest | string {
  let request: unknown;
  try {
    request = JSON.parse(utf8.decode(line));
  } catch {
    return 'The request is not JSON in UTF-8.';
  }
  if (typeof request !== 'object' || request === null) return 'The request is not an object.';
  const { call, args: given = {}, size = 0 } = request as Readonly<Record<string, unknown>>;
  if (typeof call !== 'string') return 'The request has no call.';
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    return 'The body size must be a whole number of bytes.';
  }
  return { call, given, sizeBytes: size, chunks: exactly(size, first, pieces) };
}

async function* exactly(
  sizeBytes: number,
  first: Buffer,
  pieces: AsyncIterator<Buffer, undefined>,
): AsyncGenerator<Uint8Array, void> {
  let left = sizeBytes;
  for (let piece = first; left > 0;) {
    if (piece.length > 0) yield piece.subarray(0, left);
    left -= Math.min(left, piece.length);
    if (left === 0) return;
    const { value, done } = await pieces.next();
    if (done === true)
      throw new RequestCut('the connection was closed before the complete body was received');
    piece = value;
  }
}
