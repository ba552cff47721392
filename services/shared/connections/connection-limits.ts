/** Limits how many connections a server holds, in total and for each address. At a limit, the server closes the
 *  connection that has been idle for longest, so that idle connections cannot block other clients. While a request is
 *  being processed, its connection is never closed in favor of another one. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { peerOf } from './peer.ts';

export const closeReasons = [
  /** The server closed the connection in favor of a new one. */
  'limit',
  'address_limit',
  /** The server refused the connection, because it could close no other connection. */
  'refused',
  'headers_timeout',
  'body_timeout',
  /** The client stopped reading its response. */
  'response_timeout',
] as const;
export type CloseReason = (typeof closeReasons)[number];

export interface LimitOptions {
  /** The maximum number of connections in total. */
  readonly max: number;
  readonly maxPerAddress: number;
  /** Whether many users may share an address. The limit per address then does not apply. */
  readonly isShared: (address: string) => boolean;
  /** Called for each connection that is closed or refused at a limit. */
  readonly onLimit?: (reason: CloseReason) => void;
  /** The response to an interrupted request, or to a refused connection. */
  readonly refusal: string;
}

interface Connection {
  readonly socket: Socket;
  readonly peer: Peer;
  request?: IncomingMessage | undefined;
  response?: ServerResponse | undefined;
  /** Bytes in both directions at the last check. */
  bytes: number;
}

/** All connections of one address. */
interface Peer {
  open: number;
  /** Connections that may be closed. Those that have made no progress for longest come first. */
  readonly waiting: Set<Connection>;
}

/** A transfer counts as active if it has moved this many bytes since the last check. */
const progressBytes = 16 * 1024;
/** When a connection must be closed, at most this many connections are checked. */
const maxLooks = 256;
/** If no connection can be closed, this many additional connections from this machine are accepted, for example for
 *  health checks. */
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

  /** Connections that were closed or refused since the start. */
  get closed(): ReadonlyMap<CloseReason, number> {
    return this.#closed;
  }

  /** Whether each connection closes after its response. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** From now on, every response contains `Connection: close`, unless its headers have already been sent. */
  closeAfterResponses(): void {
    this.#isClosing = true;
    for (const { response } of this.#connections.values()) announceClose(response);
  }

  /** Admits a connection. Ends it if a limit is reached and no other connection can be closed. */
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

  /** Records that the headers of a request are complete. */
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

  /** Never closes this connection in favor of another one, for example because it is an authenticated WebSocket. */
  keep(socket: Socket): void {
    const connection = this.#connections.get(socket);
    connection?.peer.waiting.delete(connection);
  }

  /** Whether the connection waits for its client, and not for the server. */
  waitsForClient(socket: Socket): boolean {
    const connection = this.#connections.get(socket);
    return connection === undefined || isWaiting(connection);
  }

  /** Closes a connection. */
  close(socket: Socket, reason: CloseReason, response?: string): void {
    this.#count(reason);
    const connection = this.#connections.get(socket);
    if (response !== undefined && connection?.response?.headersSent !== true) {
      // The response is sent if the socket's buffer has space. The descriptor is freed without waiting for the client.
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

  /** Idempotent. */
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

/** Moves the connection to the end of the closing order, unless it is exempt. */
function renew(connection: Connection): void {
  const { waiting } = connection.peer;
  if (waiting.delete(connection)) waiting.add(connection);
}
