/** A client connection. It reads commands and writes replies in order, and limits the memory that a client can
 *  occupy. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Logger } from '#services/shared/logger.ts';
import { isJobDelivery, type Answer, type JobDelivery } from './command.ts';
import { encode, failure, type Reply } from './resp/replies.ts';
import {
  authenticatedLimits,
  ProtocolError,
  RequestReader,
  unauthenticatedLimits,
  type Request,
} from './resp/requests.ts';
import type { Session } from './session.ts';

/** The maximum size of received commands that wait for the current command. */
const maxWaitingBytes = 64 * 1024;
/** The maximum size of unread replies. While it is exceeded, the connection executes no further commands. */
const maxReplyBytes = 256 * 1024;
/** A client that reads no replies for this long is disconnected. */
const stallMs = 60_000;
/** The time limit for sending the last replies before the connection is closed. */
const finalRepliesMs = 1_000;

export interface ConnectionDeps {
  readonly session: Session;
  readonly execute: (request: Request, connection: Connection) => Promise<Answer>;
  readonly logger: Pick<Logger, 'error' | 'info'>;
}

export class Connection {
  readonly session: Session;
  readonly #socket: Socket;
  readonly #deps: ConnectionDeps;
  readonly #reader = new RequestReader();
  readonly #gone = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #isWorking = false;
  #isCorked = false;

  constructor(socket: Socket, deps: ConnectionDeps) {
    this.session = deps.session;
    this.#socket = socket;
    this.#deps = deps;
    socket.once('close', () => {
      this.#gone.abort();
      if (!this.#isWorking) this.#ended.resolve();
    });
    socket.setNoDelay();
    socket.setKeepAlive(true, 30_000);
    socket.on('error', () => undefined); // the `close` event follows each error
    socket.on('data', (bytes) => {
      if (this.session.isEnding) return;
      this.#reader.push(bytes);
      if (this.#isWorking && this.#reader.waitingBytes > maxWaitingBytes) socket.pause();
      void this.#work();
    });
  }

  /** Aborts when the client has disconnected. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Resolves when the client has disconnected and all of its commands have ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Sends a push message. A client that does not read its messages is disconnected, and must read the stored state
   *  after reconnecting. */
  push(reply: Reply): void {
    if (this.#gone.signal.aborted) return;
    if (this.#socket.writableLength > maxReplyBytes) {
      this.#deps.logger.info({ client: this.session.id }, 'subscriber is not reading its messages');
      this.close();
      return;
    }
    this.#send(reply);
  }

  /** Closes the connection. Calling it again has no effect. */
  close(): void {
    this.#gone.abort();
    this.#socket.destroy();
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    try {
      for (;;) {
        const request = this.#next();
        if (request === undefined || this.#gone.signal.aborted) break;
        await this.#handle(request);
        if (this.session.isEnding) this.#end();
      }
    } catch (error) {
      if (error instanceof ProtocolError) {
        this.#send(failure(`ERR ${error.message}`));
        this.#end();
      } else {
        this.#deps.logger.error({ error, client: this.session.id }, 'connection failed');
        this.close();
      }
    } finally {
      this.#isWorking = false;
      if (this.#gone.signal.aborted) this.#ended.resolve();
      else this.#socket.resume();
    }
  }

  #next(): Request | undefined {
    if (this.session.isEnding) return undefined;
    return this.#reader.next(
      this.session.credential === undefined ? unauthenticatedLimits : authenticatedLimits,
    );
  }

  async #handle(request: Request): Promise<void> {
    const answer = await this.#deps.execute(request, this);
    if (isJobDelivery(answer)) await answer.settle(await this.#deliver(answer));
    else if (!this.#gone.signal.aborted) this.#send(answer);
    if (this.#socket.writableLength > maxReplyBytes) await this.#untilTaken();
  }

  #send(reply: Reply, onSent?: (error: unknown) => void): void {
    // Writes all replies of an event loop iteration together.
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(encode(reply, this.session.protocol), onSent);
  }

  /** @returns whether the reply was sent; if not, the connection has ended */
  async #deliver({ reply, withinMs }: JobDelivery): Promise<boolean> {
    if (this.#gone.signal.aborted) return false;
    const sent = new Promise<boolean>((resolve) => {
      this.#send(reply, (error) => resolve(error === null || error === undefined));
    });
    const stalled = setTimeout(() => this.close(), withinMs);
    try {
      return await sent;
    } finally {
      clearTimeout(stalled);
    }
  }

  async #untilTaken(): Promise<void> {
    const stalled = setTimeout(() => this.close(), stallMs);
    await once(this.#socket, 'drain', { signal: this.#gone.signal }).catch(() => undefined);
    clearTimeout(stalled);
  }

  #end(): void {
    this.session.isEnding = true;
    this.#socket.end(() => this.#socket.destroy());
    setTimeout(() => this.close(), finalRepliesMs).unref();
  }
}
