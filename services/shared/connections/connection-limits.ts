/** Limits a server's connections, both in total and per address. At a limit, the server closes the connection that has
 *  been idle longest, so that idle connections cannot lock out other clients. A connection whose request is being
 *  processed is never closed to make room. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { peerOf } from './peer.ts';

export const closeReasons = [
  /** The server closed the connection to make room for a new connection. */
  'limit',
  'address_limit',
  /** The server refused the connection, because no other connection could be closed. */
  'refused',
  'headers_timeout',
  'body_timeout',
  /** The client stopped reading its response. */
  'response_timeout',
] as const;
export type CloseReason = (typeof closeReasons)[number];

export interface LimitOptions {
  /** The maximum total number of connections. */
  readonly max: number;
  readonly maxPerAddress: number;
  /** Whether many users may share an address, which disables the limit per address. */
  readonly isShared: (address: string) => boolean;
  /** Called for each connection that is closed or refused because of a limit. */
  readonly onLimit?: (reason: CloseReason) => void;
  /** The response sent to an interrupted request or a refused connection. */
  readonly refusal: string;
}

interface Connection {
  readonly socket: Socket;
  readonly peer: Peer;
  request?: IncomingMessage | undefined;
  response?: ServerResponse | undefined;
  /** The number of bytes transferred in both directions up to the last check. */
  bytes: number;
}

/** All connections from one address. */
interface Peer {
  open: number;
  /** The connections that may be closed, in the order of their last progress, the oldest first. */
  readonly waiting: Set<Connection>;
}

/** A transfer counts as active if it has transferred this many bytes since the last check. */
const progressBytes = 16 * 1024;
/** The maximum number of connections that are checked to find one to close. */
const maxLooks = 256;
/** The number of additional connections accepted from this machine when no connection can be closed. They keep health
 *  checks working. */
const localHeadroom = 16;

export class ConnectionLimits {
  readonly #options: LimitOptions;
  readonly #peers = new Map<string, Peer>();
  readonly #connections = new Map<Socket, Connection>();
  readonly #closed = new Map<CloseReason, number>(closeReasons.map((reason) => [reason, 0]));

  #isClosing = false;

  constructor(options: LimitOptions) {
    this.#options = options;
  }

  get open(): number {
    return this.#connections.size;
  }

  get limit(): number {
    return this.#options.max;
  }

  get limitPerAddress(): number {
    return this.#options.maxPerAddress;
  }

  /** The number of connections closed or refused since the start, by reason. */
  get closed(): ReadonlyMap<CloseReason, number> {
    return this.#closed;
  }

  /** Whether to close each connection after its response. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Adds `Connection: close` to all responses whose headers have not been sent yet. */
  closeAfterResponses(): void {
    this.#isClosing = true;
    for (const { response } of this.#connections.values()) announceClose(response);
  }

  /** Accepts a connection. Refuses it if a limit is reached and no other connection can be closed. */
  add(socket: Socket): void {
    const address = peerOf(socket.remoteAddress ?? '');
    const known = this.#peers.get(address);
    const isTooMany = (known?.open ?? 0) >= this.#options.maxPerAddress;
    if (known !== undefined && isTooMany && !this.#options.isShared(address)) {
      if (!this.#closeOne([known], 'address_limit')) return this.#refuse(socket);
    }
    if (this.open >= this.limit && !this.#closeOne(this.#largestFirst(), 'limit')) {
      const isLocal = address === 'local' && this.open < this.limit + localHeadroom;
      if (!isLocal) return this.#refuse(socket);
    }
    const peer = this.#peers.get(address) ?? { open: 0, waiting: new Set() };
    const connection = { socket, peer, bytes: 0 };
    this.#peers.set(address, peer);
    this.#connections.set(socket, connection);
    peer.open += 1;
    peer.waiting.add(connection);
    socket.once('close', () => {
      this.#remove(connection);
      if (peer.open === 0) this.#peers.delete(address);
    });
  }

  /** Records that the server has received the headers of a request. */
  serve(request: IncomingMessage, response: ServerResponse): void {
    if (this.#isClosing) announceClose(response);
    const connection = this.#connections.get(request.socket);
    if (connection === undefined) return;
    connection.request = request;
    connection.response = response;
    renew(connection);
    response.once('close', () => {
      if (connection.response !== response) return;
      connection.request = undefined;
      connection.response = undefined;
      if (this.#connections.has(connection.socket)) renew(connection);
    });
  }

  /** Exempts a connection from being closed to make room. An example is an authenticated WebSocket. */
  keep(socket: Socket): void {
    const connection = this.#connections.get(socket);
    connection?.peer.waiting.delete(connection);
  }

  /** Whether the connection is waiting for its client rather than for the server. */
  waitsForClient(socket: Socket): boolean {
    const connection = this.#connections.get(socket);
    return connection === undefined || isWaiting(connection);
  }

  /** Closes a connection and counts it under the reason. */
  close(socket: Socket, reason: CloseReason, response?: string): void {
    this.#count(reason);
    const connection = this.#connections.get(socket);
    if (response !== undefined && connection?.response?.headersSent !== true) {
      // The response is sent only if it fits in the socket's buffer, so that the file descriptor is freed without
      // waiting for the client.
      socket.write(response);
    }
    socket.destroy();
    if (connection !== undefined) this.#remove(connection);
  }

  #refuse(socket: Socket): void {
    this.#options.onLimit?.('refused');
    socket.on('error', () => undefined);
    this.close(socket, 'refused', this.#options.refusal);
  }

  #closeOne(peers: Iterable<Peer>, reason: CloseReason): boolean {
    let looks = maxLooks;
    for (const peer of peers) {
      for (let left = peer.waiting.size; left > 0; left -= 1) {
        const [oldest] = peer.waiting;
        if (oldest === undefined || looks === 0) return false;
        looks -= 1;
        if (isWaiting(oldest) && !hasMoved(oldest)) {
          this.#options.onLimit?.(reason);
          const isCut = oldest.request !== undefined;
          this.close(oldest.socket, reason, isCut ? this.#options.refusal : undefined);
          return true;
        }
        renew(oldest);
      }
    }
    return false;
  }

  *#largestFirst(): Generator<Peer> {
    let largest: Peer | undefined;
    for (const peer of this.#peers.values()) {
      if (largest === undefined || peer.waiting.size > largest.waiting.size) largest = peer;
    }
    if (largest !== undefined) yield largest;
    for (const peer of this.#peers.values()) if (peer !== largest) yield peer;
  }

  #count(reason: CloseReason): void {
    this.#closed.set(reason, (this.#closed.get(reason) ?? 0) + 1);
  }

  /** Stops tracking a connection. Idempotent. */
  #remove(connection: Connection): void {
    if (!this.#connections.delete(connection.socket)) return;
    connection.peer.waiting.delete(connection);
    connection.peer.open -= 1;
  }
}

function announceClose(response: ServerResponse | undefined): void {
  if (response?.headersSent === false) response.setHeader('Connection', 'close');
}

function isWaiting({ socket, request, response }: Connection): boolean {
  if (request?.complete !== true || response === undefined) return true;
  return response.writableEnded || socket.writableNeedDrain;
}

function hasMoved(connection: Connection): boolean {
  const { socket, request } = connection;
  if (request === undefined) return false;
  const bytes = socket.bytesRead + socket.bytesWritten - socket.writableLength;
  const isMoving = bytes - connection.bytes >= progressBytes;
  if (isMoving) connection.bytes = bytes;
  return isMoving;
}

/** Moves the connection to the end of the closing order, unless the connection is exempt. */
function renew(connection: Connection): void {
  const { waiting } = connection.peer;
  if (waiting.delete(connection)) waiting.add(connection);
}
