/** Creates HTTP servers with limits and deadlines. Clients that are slow, silent or never finish a request cannot keep
 *  connections open indefinitely. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from './connection-limits.ts';
import { plainResponse } from './plain-response.ts';

export interface HttpDeadlines {
  /** The deadline for the first byte and the headers of a request. */
  readonly headersMs: number;
  /** The period in which a request body must transfer at least `minBodyBytesPerSecond` on average. */
  readonly bodyMs: number;
  /** The maximum idle time of a connection between two requests. */
  readonly idleMs: number;
  /** The maximum time for which a client may leave a response unread. Default: one minute. */
  readonly unreadMs?: number;
}

export interface HttpServerOptions {
  readonly connections: ConnectionLimits;
  readonly deadlines: HttpDeadlines;
}

export const minBodyBytesPerSecond = 500;
const defaultUnreadMs = 60_000;
/** The interval at which Node checks for requests with late headers. */
const headersCheckMs = 1000;

/** Creates a server that is not listening yet. */
export function createHttpServer(
  listener: RequestListener,
  { connections, deadlines }: HttpServerOptions,
): Server {
  const { headersMs, bodyMs, idleMs } = deadlines;
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: headersMs,
    connectionsCheckingInterval: Math.min(headersCheckMs, headersMs),
    // Disables Node's request timeout. Bodies have their own deadline, because a large body may take a long time.
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
    // Ignores connections that are waiting for the server, because responses may take a long time.
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

/** Calls `onLate` when a request body arrives too slowly. */
function watchBody(request: IncomingMessage, bodyMs: number, onLate: () => void): void {
  const { headers, socket } = request;
  if (headers['transfer-encoding'] === undefined && !Number(headers['content-length'] ?? 0)) return;
  const minBytes = (minBodyBytesPerSecond * bodyMs) / 1000;
  let before = socket.bytesRead;
  let wasRead = true;
  const timer = setInterval(() => {
    if (request.complete || socket.destroyed) return clearInterval(timer);
    // Unread received bytes mean that the client is waiting for the server.
    const isRead = request.readableLength === 0;
    // A new period starts when the server resumes reading.
    if (isRead && wasRead && socket.bytesRead - before < minBytes) onLate();
    before = socket.bytesRead;
    wasRead = isRead;
  }, bodyMs).unref();
  request.once('close', () => clearInterval(timer));
}
