/** HTTP requests with `node:http`. Loading the global `fetch` takes a third of the time of a short command. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | Blob | undefined;
  /** Ends the request, and the response if it is still arriving. */
  readonly signal: AbortSignal;
  /** Called when the whole request has been sent. */
  readonly onSent?: () => void;
}

/** Sends a request. Does not follow redirects.
 *  @returns the response of any status, whose body must be read or destroyed
 *  @throws the reason of the signal if it is aborted, or an Error of the connection */
export async function sendRequest(
  url: URL,
  { method, headers, body, signal, onSent = () => undefined }: HttpRequest,
): Promise<IncomingMessage> {
  signal.throwIfAborted();
  // `import` would evaluate all exports of the module, some of which load `fetch`.
  const { request } =
    url.protocol === 'https:'
      ? process.getBuiltinModule('node:https')
      : process.getBuiltinModule('node:http');
  const sent = request(url, { method, headers });
  const abort = () => sent.destroy(signal.reason as Error);
  signal.addEventListener('abort', abort);
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  // The server may respond and close the connection before it has received the whole body.
  sent.on('error', () => undefined);
  sent.once('finish', onSent);
  sent.once('close', () => signal.removeEventListener('abort', abort));
  if (body instanceof Blob) {
    sent.setHeader('Content-Length', body.size);
    Readable.fromWeb(body.stream())
      .on('error', (error) => sent.destroy(error))
      .pipe(sent);
  } else sent.end(body);
  const [answer] = await answered;
  signal.addEventListener('abort', () => answer.destroy(signal.reason as Error));
  return answer;
}

/** Describes why there was no response. */
export function reasonOf(error: unknown): string {
  // A host with several addresses: one error for each address.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
