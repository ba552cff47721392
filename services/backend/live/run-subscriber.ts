/** One socket that follows one run. It gets everything from its first line on, in order, without a gap
 *  or a repeat: from storage, at its own pace, until it has caught up; then as it comes. */
import type { WebSocket } from 'ws';
import type { LogFrames } from './log-frames.ts';

/** What may wait in memory for a slow reader; what follows waits in storage. */
const maxBufferedBytes = 128 * 1024;

/** A chunk of the log as it came over the bus. */
export interface LiveChunk {
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The whole frame, made once for all subscribers; absent where it was too large to travel. */
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

  /** The line that it waits for. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Whether it has caught up and waits for what comes. */
  get isIdle(): boolean {
    return this.#started && !this.#reading;
  }

  /** Begins with the lines; what is shown before comes before them. */
  start(): void {
    this.#started = true;
    this.catchUp();
  }

  /** Takes a chunk as it comes; what does not fit is read from storage. */
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

  /** Shows a status; where there is no room now, the latest one is shown later. */
  show(frame: Buffer): void {
    if (this.#end !== undefined) return;
    if (this.#hasRoom()) {
      this.#socket.send(frame, { binary: false });
    } else {
      this.#status = frame;
      this.catchUp();
    }
  }

  /** Shows what is out of date soon: where there is no room now, it is never shown. */
  showInPassing(frame: Buffer): void {
    if (this.#started && this.#end === undefined && this.#hasRoom()) {
      this.#socket.send(frame, { binary: false });
    }
  }

  /** Ends the stream once everything that is stored has been sent. */
  finish(end: RunEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.catchUp();
  }

  /** Sends from storage whatever is there. */
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
        // Asked before reading: what is stored after the end was known is read in any case.
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

  /** @returns whether there may be more */
  async #sendStored(): Promise<boolean> {
    const { frames, isMore } = await this.#frames.next(this.runId, this.#nextSeq);
    for (const { lastSeq, bytes } of frames) {
      this.#nextSeq = lastSeq + 1;
      await this.#send(bytes);
    }
    return isMore;
  }

  /** Waits while too much is on its way already. */
  async #send(frame: Buffer): Promise<void> {
    if (!this.#isOpen()) return;
    if (this.#hasRoom()) {
      this.#socket.send(frame, { binary: false });
      return;
    }
    // The callback comes when everything up to this frame has left, or the socket has closed.
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
