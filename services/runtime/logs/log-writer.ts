/** Writes one run's log in order: lines are grouped into chunks, and one write at a time goes to the store. While
 *  the store is unavailable, lines wait in memory. When this memory is full, `write` does not resolve, so the
 *  process's output is not read. */
import type { Clock } from '#domain/ports/clock.ts';
import type { RunLogs } from '#domain/ports/run-logs.ts';
import { ChunkBuilder, type SealedChunk } from './chunk-builder.ts';
import type { LogLine } from '#services/shared/line-splitter.ts';
import { LogWindow } from './log-window.ts';
import { systemTimers, type Timers } from './timers.ts';

const FLUSH_EVERY_MS = 15;
// The maximum size of unsaved lines. Several full chunks keep the store busy, and the lines of a hundred runs still fit
// in memory.
const MAX_HELD_SIZE = 1024 * 1024;
const MAX_BATCH_CHUNKS = 16;
const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 5_000;

export interface LogWriterOptions {
  readonly runId: string;
  /** The maximum size of the stored log (contract, `log_bytes`), or null for no limit. */
  readonly limitBytes: number | null;
  readonly store: Pick<RunLogs, 'append' | 'removeChunks'>;
  readonly clock: Clock;
  /** Called after each failed attempt. The writer retries until it succeeds or `signal` aborts. */
  readonly onRetry: (error: unknown, attempt: number) => void;
  /** Aborts the retries. Unsaved lines are then lost, and `close` rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  readonly timers?: Timers;
}

export interface LogTotals {
  readonly lines: number;
  /** The size of all lines as text with line endings, including lines that were truncated later. */
  readonly bytes: number;
  readonly truncated: boolean;
}

export class LogWriter {
  readonly #options: LogWriterOptions;
  readonly #timers: Timers;
  readonly #builder: ChunkBuilder;
  readonly #window: LogWindow;
  #ready: SealedChunk[] = [];
  #heldSize = 0;
  #blocked: (() => void)[] = [];
  #cancelFlush: (() => void) | undefined;
  #truncated = false;
  #closed = false;
  /** The reason with which `close` rejects. Set when `signal` has aborted the retries. */
  #failure: { readonly reason: unknown } | undefined;
  // The first line is stored immediately, because users wait for it.
  #isDue = true;
  #isPumping = false;
  #pumped: Promise<void> = Promise.resolve();

  constructor(options: LogWriterOptions) {
    const limitBytes = options.limitBytes ?? Number.POSITIVE_INFINITY;
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#builder = new ChunkBuilder(options.runId, limitBytes);
    this.#window = new LogWindow(limitBytes);
  }

  /** Adds lines in order. Resolves when more lines can be added. Never rejects (see `signal`). */
  async write(lines: readonly LogLine[]): Promise<void> {
    if (this.#closed) throw new Error('the log is closed');
    if (lines.length === 0 || this.#failure !== undefined) return;
    this.#hold(this.#builder.add(lines, this.#options.clock.now().toISOString()));
    if (this.#isDue || this.#ready.length > 0) void this.#pump();
    if (this.#builder.openSize > 0) this.#flushSoon();
    if (this.#isFull()) await new Promise<void>((resolve) => this.#blocked.push(resolve));
  }

  /** A sentence for the run's log, if the log has exceeded its limit. */
  get excess(): string | undefined {
    const { limitBytes } = this.#options;
    const { bytes } = this.#builder.totals;
    if (limitBytes === null || bytes <= limitBytes) return undefined;
    return `log limit of ${limitBytes} bytes exceeded: ${bytes} bytes written; the middle was removed`;
  }

  /** Stores all lines and ends the log. Idempotent.
   *  @throws the reason of `signal` if it aborted first */
  async close(): Promise<LogTotals> {
    this.#closed = true;
    this.#isDue = true;
    await this.#pump();
    if (this.#failure !== undefined) throw this.#failure.reason;
    return { ...this.#builder.totals, truncated: this.#truncated };
  }

  #hold(sealed: readonly SealedChunk[]): void {
    this.#ready.push(...sealed);
    for (const { heldSize } of sealed) this.#heldSize += heldSize;
  }

  #isFull(): boolean {
    return this.#heldSize + this.#builder.openSize > MAX_HELD_SIZE;
  }

  #flushSoon(): void {
    this.#cancelFlush ??= this.#timers.after(FLUSH_EVERY_MS, () => {
      this.#cancelFlush = undefined;
      this.#isDue = true;
      void this.#pump();
    });
  }

  /** Stores chunks that are complete or due. Resolves when no such chunks are left. Never rejects. */
  #pump(): Promise<void> {
    if (!this.#isPumping) {
      this.#isPumping = true;
      this.#pumped = this.#run();
    }
    return this.#pumped;
  }

  async #run(): Promise<void> {
    try {
      for (let batch = this.#next(); batch.length > 0; batch = this.#next()) {
        await this.#store(batch);
        this.#release(batch);
      }
    } catch (reason) {
      this.#failure = { reason };
      this.#ready = [];
      this.#heldSize = 0;
      this.#unblock();
    }
    this.#isPumping = false;
  }

  #next(): SealedChunk[] {
    if (this.#isDue) {
      this.#cancelFlush?.();
      this.#cancelFlush = undefined;
      const open = this.#builder.seal();
      if (open !== undefined) this.#hold([open]);
      // Nothing is stored before the first line.
      this.#isDue = this.#builder.totals.lines === 0;
    }
    const batch = this.#ready.slice(0, MAX_BATCH_CHUNKS);
    return this.#ready.splice(0, this.#window.fitting(batch));
  }

  async #store(batch: readonly SealedChunk[]): Promise<void> {
    const { store, runId } = this.#options;
    const chunks = batch.map((sealed) => sealed.chunk);
    await this.#untilDone(() => store.append(chunks));
    for (const sealed of batch) this.#window.add(sealed);
    // Truncates after the append, so that a crash between the two steps leaves too many lines rather than too few.
    const over = this.#window.take();
    if (over === undefined) return;
    this.#truncated = true;
    await this.#untilDone(() => store.removeChunks(runId, over.fromSeq, over.toSeq));
  }

  #release(batch: readonly SealedChunk[]): void {
    for (const { heldSize } of batch) this.#heldSize -= heldSize;
    if (!this.#isFull()) this.#unblock();
  }

  #unblock(): void {
    for (const resolve of this.#blocked.splice(0)) resolve();
  }

  async #untilDone(task: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      this.#options.signal?.throwIfAborted();
      try {
        return await task();
      } catch (error) {
        this.#options.onRetry(error, attempt);
      }
      await this.#pause(Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (attempt - 1)));
    }
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = this.#options;
      const done = () => {
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.#timers.after(delayMs, done);
      signal?.addEventListener('abort', done);
    });
  }
}
