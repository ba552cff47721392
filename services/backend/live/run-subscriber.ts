/** A socket that follows one run and receives all lines in order, without gaps or repeats. Lines come from storage
 *  at the client's pace until the client has caught up. Later lines are sent live. */
import type { WebSocket } from 'ws';
import type { LogFrames } from './log-frames.ts';

/** The buffer for a slow reader. If it is full, further lines stay in storage. */
const maxBufferedBytes = 128 * 1024;

/** A chunk of the log from the bus. */
export interface LiveChunk {
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The frame, created once for all subscribers; absent if it was too large for the bus. */
  readonly frame: Buffer | undefined;
}

export interface RunEnd {
  readonly status: string;
  /** The last status frame. */
  readonly frame: Buffer;
}

export class RunSubscriber {
  readonly runId: string;
  readonly #socket: WebSocket;
  readonly #frames: LogFrames;
  readonly #onError: (error: unknown) => void;
  #nextSeq: number;
  #started = false;
  #reading = false;
  #readAgain = false;
  #status: Buffer | undefined;
  #end: RunEnd | undefined;

  constructor(
    socket: WebSocket,
    run: { readonly runId: string; readonly fromSeq: number },
    frames: LogFrames,
    onError: (error: unknown) => void,
  ) {
    this.runId = run.runId;
    this.#nextSeq = run.fromSeq;
    this.#socket = socket;
    this.#frames = frames;
    this.#onError = onError;
  }

  /** The next line to send. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Whether the socket has received all known lines. */
  get isIdle(): boolean {
    return this.#started && !this.#reading;
  }

  /** Starts sending lines, after any frames already sent. */
  start(): void {
    this.#started = true;
    this.catchUp();
  }

  /** Sends a live chunk. A chunk that does not fit is read from storage later. */
  offer({ firstSeq, lastSeq, frame }: LiveChunk): void {
    if (!this.#started || lastSeq < this.#nextSeq) return;
    const fits = frame !== undefined && firstSeq === this.#nextSeq && this.#hasRoom();
    if (!this.#reading && fits) {
      this.#nextSeq = lastSeq + 1;
      this.#socket.send(frame, { binary: false });
    } else {
      this.catchUp();
    }
  }

  /** Sends a status. If the buffer is full, the latest status is sent later. */
  show(frame: Buffer): void {
    if (this.#end !== undefined) return;
    if (this.#hasRoom()) {
      this.#socket.send(frame, { binary: false });
    } else {
      this.#status = frame;
      this.catchUp();
    }
  }

  /** Sends a short-lived frame, or drops it if the buffer is full. */
  showInPassing(frame: Buffer): void {
    if (this.#started && this.#end === undefined && this.#hasRoom()) {
      this.#socket.send(frame, { binary: false });
    }
  }

  /** Ends the stream once all stored lines have been sent. */
  finish(end: RunEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.catchUp();
  }

  /** Sends the lines in storage. */
  catchUp(): void {
    this.#readAgain = true;
    if (this.#reading || !this.#started) return;
    this.#reading = true;
    this.#read().catch(this.#onError);
  }

  async #read(): Promise<void> {
    try {
      while (this.#readAgain && this.#isOpen()) {
        this.#readAgain = false;
        // Reads the end before the lines, so that all lines stored before the end are included.
        const end = this.#end;
        while (await this.#sendStored()) if (!this.#isOpen()) return;
        if (end !== undefined) return await this.#sendEnd(end);
        const status = this.#status;
        this.#status = undefined;
        if (status !== undefined) await this.#send(status);
      }
    } finally {
      this.#reading = false;
    }
  }

  async #sendEnd({ status, frame }: RunEnd): Promise<void> {
    await this.#send(frame);
    await this.#send(Buffer.from(JSON.stringify({ type: 'end', status })));
    this.#socket.close(1000);
  }

  /** @returns whether storage may contain more lines */
  async #sendStored(): Promise<boolean> {
    const { frames, isMore } = await this.#frames.next(this.runId, this.#nextSeq);
    for (const { lastSeq, bytes } of frames) {
      this.#nextSeq = lastSeq + 1;
      await this.#send(bytes);
    }
    return isMore;
  }

  /** Sends a frame. Waits while too many bytes are in transit. */
  async #send(frame: Buffer): Promise<void> {
    if (!this.#isOpen()) return;
    if (this.#hasRoom()) {
      this.#socket.send(frame, { binary: false });
      return;
    }
    // Called once everything up to this frame has been sent, or the socket has closed.
    await new Promise<void>((resolve) => {
      this.#socket.send(frame, { binary: false }, () => resolve());
    });
  }

  #hasRoom(): boolean {
    return this.#isOpen() && this.#socket.bufferedAmount < maxBufferedBytes;
  }

  #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }
}
