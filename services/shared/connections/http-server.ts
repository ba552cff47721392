/** HTTP servers with limits and deadlines: clients that are slow, silent or never finish a request
 *  cannot hold connections forever. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from './connection-limits.ts';
import { plainResponse } from './plain-response.ts';

export interface HttpDeadlines {
  /** The deadline for the first byte and the headers of a request. */
  readonly headersMs: number;
  /** The length of a period. In each period, a body must transfer at least `minBodyBytesPerSecond`. */
  readonly bodyMs: number;
  /** How long a connection may be idle between two requests. */
  readonly idleMs: number;
  /** How long a client may leave a response unread. Default: a minute. */
  readonly unreadMs?: number;
}

export interface HttpServerOptions {
  readonly connections: ConnectionLimits;
  readonly deadlines: HttpDeadlines;
}

export const minBodyBytesPerSecond = 500;
const defaultUnreadMs = 60_000;
/** How often Node checks for requests with late headers. */
const headersCheckMs = 1000;

/** Creates a server that is not yet listening. */
export function createHttpServer(
  listener: RequestListener,
  { connections, deadlines }: HttpServerOptions,
): Server {
  const { headersMs, bodyMs, idleMs } = deadlines;
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: headersMs,
    connectionsCheckingInterval: Math.min(headersCheckMs, headersMs),
    // Bodies have a separate deadline, because a large body may take a long time.
    requestTimeout: 0,
    keepAliveTimeout: idleMs,
  });
  server.maxHeadersCount = 100;
  server.timeout = deadlines.unreadMs ?? defaultUnreadMs;
  server.on('connection', (socket: Socket) => connections.add(socket));
  server.on('request', (request: IncomingMessage, response) => {
    connections.serve(request, response);
    watchBody(request, bodyMs, () =>
      connections.close(request.socket, 'body_timeout', plainResponse(408)),
    );
  });
  server.on('request', listener);
  server.on('timeout', (socket: Socket) => {
    // Ignores a connection that waits for the server, because the response may take a long time.
    if (!connections.waitsForClient(socket)) return;
    if (socket.writableLength > 0) connections.close(socket, 'response_timeout');
    else socket.destroy();
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    if (isLate) connections.close(socket, 'headers_timeout', plainResponse(408));
    else if (socket.writable) socket.end(plainResponse(statusOf(error)));
    else socket.destroy();
  });
  return server;
}

function statusOf({ code }: NodeJS.ErrnoException): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW' ? 413 : 400;
}

/** Calls `onLate` when a body arrives too slowly. */
function watchBody(request: IncomingMessage, bodyMs: number, onLate: () => void): void {
  const { headers, socket } = request;
  if (headers['transfer-encoding'] === undefined && !Number(headers['content-length'] ?? 0)) return;
  const minBytes = (minBodyBytesPerSecond * bodyMs) / 1000;
  let before = socket.bytesRead;
  let wasRead = true;
  const timer = setInterval(() => {
    if (request.complete || socket.destroyed) return clearInterval(timer);
    // If received bytes have not been read yet, the client is waiting for the server.
    const isRead = request.readableLength === 0;
    // If the server has just resumed reading, a new period starts for the client.
    if (isRead && wasRead && socket.bytesRead - before < minBytes) onLate();
    before = socket.bytesRead;
    wasRead = isRead;
  }, bodyMs).unref();
  request.once('close', () => clearInterval(timer));
}
