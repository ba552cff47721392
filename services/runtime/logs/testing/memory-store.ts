/** Test doubles for this folder. */
import { setImmediate } from 'node:timers/promises';
import type { LogChunk, LogItem, RunLogs } from '#domain/ports/run-logs.ts';
import type { Timers } from '../timers.ts';

/** Timers that tests fire manually. */
export class ManualTimers implements Timers {
  readonly waiting = new Set<{ readonly delayMs: number; readonly task: () => void }>();

  get delaysMs(): number[] {
    return Array.from(this.waiting, (timer) => timer.delayMs);
  }

  after(delayMs: number, task: () => void): () => void {
    const timer = { delayMs, task };
    this.waiting.add(timer);
    return () => this.waiting.delete(timer);
  }

  /** Fires all current timers, but not the timers that they start. */
  fire(): void {
    for (const timer of Array.from(this.waiting)) {
      if (this.waiting.delete(timer)) timer.task();
    }
  }

  /** Fires all timers, including timers that are started later, until `promise` is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    void promise.then(
      () => (settled = true),
      () => (settled = true),
    );
    while (!settled) {
      this.fire();
      await setImmediate();
    }
    return promise;
  }
}

/** An in-memory store that can fail on request, before or after it stores data. */
export class MemoryStore implements Pick<RunLogs, 'append' | 'removeChunks'> {
  readonly chunks = new Map<number, LogChunk>();
  readonly appends: (readonly LogChunk[])[] = [];
  /** Chunks in the order in which they were first stored, including chunks that were removed later. */
  readonly stored: LogChunk[] = [];
  maxBytes = 0;
  fail: 'never' | 'before' | 'after' = 'never';
  readonly #seen = new Set<number>();

  get bytes(): number {
    return [...this.chunks.values()].reduce((sum, chunk) => sum + chunk.bytes, 0);
  }

  get items(): LogItem[] {
    return [...this.chunks.values()].flatMap((chunk) => itemsOf(chunk));
  }

  async append(chunks: readonly LogChunk[]): Promise<void> {
    this.appends.push(chunks);
    await this.#try(() => {
      for (const chunk of chunks) {
        if (!this.#seen.has(chunk.firstSeq)) this.stored.push(chunk);
        this.#seen.add(chunk.firstSeq);
        this.chunks.set(chunk.firstSeq, chunk);
      }
      this.maxBytes = Math.max(this.maxBytes, this.bytes);
    });
  }

  async removeChunks(_runId: string, fromSeq: number, toSeq: number): Promise<void> {
    await this.#try(() => {
      for (const seq of this.chunks.keys()) {
        if (seq >= fromSeq && seq <= toSeq) this.chunks.delete(seq);
      }
    });
  }

  async #try(act: () => void): Promise<void> {
    await setImmediate();
    if (this.fail === 'before') throw new Error('the store is unavailable');
    act();
    if (this.fail === 'after') throw new Error('the answer was lost');
  }
}

export function itemsOf(chunk: LogChunk): LogItem[] {
  return JSON.parse(chunk.itemsJson) as LogItem[];
}
