import type { LogLine } from '#lib/api/types.ts';
import { searchLogs, type LogFilter } from '../api.ts';
import type { LogRow } from './log-window.ts';

/** Loads the log lines that match a filter, one page at a time. */
export class LogSearch {
  lines = $state.raw<LogLine[]>([]);
  busy = $state(false);
  failure = $state.raw<unknown>(null);
  /** Whether more pages may contain matches. */
  more = $state(false);
  /** Incremented with each loaded page, even if the page has no matches. */
  pages = $state(0);
  readonly #runId: string;
  #filter: LogFilter = {};
  #cursor: string | null = null;
  /** Identifies the current search, so that late responses to earlier searches are ignored. */
  #generation = 0;

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** @param count the number of lines to load initially */
  search(filter: LogFilter, count = 1): void {
    this.#filter = filter;
    this.#cursor = null;
    this.#generation += 1;
    this.lines = [];
    this.more = true;
    this.busy = false;
    void this.loadUpTo(count);
  }

  rows(first: number, count: number): LogRow[] {
    return this.lines.slice(first, first + count).map((line) => ({ seq: line.seq, line }));
  }

  /** Loads more pages until `count` lines are loaded or no pages remain. */
  async loadUpTo(count: number): Promise<void> {
    const generation = this.#generation;
    while (this.more && this.lines.length < count && generation === this.#generation) {
      await this.loadMore();
    }
  }

  async loadMore(): Promise<void> {
    if (this.busy || !this.more) return;
    const generation = this.#generation;
    this.busy = true;
    try {
      const page = await searchLogs(this.#runId, this.#filter, this.#cursor);
      if (generation !== this.#generation) return;
      this.lines = [...this.lines, ...page.items];
      this.pages += 1;
      this.#cursor = page.next_cursor;
      this.more = page.next_cursor !== null;
      this.failure = null;
    } catch (error) {
      if (generation !== this.#generation) return;
      this.failure = error;
      this.more = false;
    } finally {
      if (generation === this.#generation) this.busy = false;
    }
  }
}
