/** One connection: commands in, replies out, one after the other, with little held in memory whatever the
 *  client does. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Logger } from '#services/shared/logger.ts';
import { isHandover, type Answer, type Handover } from './command.ts';
import { encode, failure, type Reply } from './resp/replies.ts';
import {
  memberLimits,
  ProtocolError,
  RequestReader,
  strangerLimits,
  type Request,
} from './resp/requests.ts';
import type { Session } from './session.ts';

/** Of commands that wait behind the present one. */
const maxWaitingBytes = 64 * 1024;
/** Of unread replies: beyond it, no further command is executed. */
const maxReplyBytes = 256 * 1024;
/** A client that reads nothing for this long is disconnected. */
const stallMs = 60_000;
/** The time to deliver final replies. */
const lastWordsMs = 1_000;

export interface ConnectionParts {
  readonly session: Session;
  readonly execute: (request: Request, connection: Connection) => Promise<Answer>;
  readonly logger: Pick<Logger, 'error' | 'info'>;
}

export class Connection {
  readonly session: Session;
  readonly #socket: Socket;
  readonly #parts: ConnectionParts;
  readonly #reader = new RequestReader();
  readonly #gone = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #isWorking = false;
  #isCorked = false;

  constructor(socket: Socket, parts: ConnectionParts) {
    this.session = parts.session;
    this.#socket = socket;
    this.#parts = parts;
    socket.once('close', () => {
      this.#gone.abort();
      if (!this.#isWorking) this.#ended.resolve();
    });
    socket.setNoDelay();
    socket.setKeepAlive(true, 30_000);
    socket.on('error', () => undefined); // `close` follows
    socket.on('data', (bytes) => {
      if (this.session.isEnding) return;
      this.#reader.push(bytes);
      if (this.#isWorking && this.#reader.waitingBytes > maxWaitingBytes) socket.pause();
      void this.#work();
    });
  }

  /** Aborted when the client has gone. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Resolves when the client has gone and nothing of it is under way. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Sends a push message. A client that does not read it is disconnected, and reads the stored state after
   *  reconnecting. */
  tell(reply: Reply): void {
    if (this.#gone.signal.aborted) return;
    if (this.#socket.writableLength > maxReplyBytes) {
      this.#parts.logger.info(
        { client: this.session.id },
        'subscriber is not reading its messages',
      );
      this.close();
      return;
    }
    this.#send(reply);
  }

  /** Cuts the connection; safe twice. */
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
        this.#parts.logger.error({ error, client: this.session.id }, 'connection failed');
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
    return this.#reader.next(this.session.credential === undefined ? strangerLimits : memberLimits);
  }

  async #handle(request: Request): Promise<void> {
    const answer = await this.#parts.execute(request, this);
    if (isHandover(answer)) await answer.settle(await this.#handOver(answer));
    else if (!this.#gone.signal.aborted) this.#send(answer);
    if (this.#socket.writableLength > maxReplyBytes) await this.#untilTaken();
  }

  #send(reply: Reply, onSent?: (error: unknown) => void): void {
    // Replies of one turn leave in one write.
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

  /** @returns whether the reply has left this process; when it cannot, the connection is at its end */
  async #handOver({ reply, withinMs }: Handover): Promise<boolean> {
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
    setTimeout(() => this.close(), lastWordsMs).unref();
  }
}
