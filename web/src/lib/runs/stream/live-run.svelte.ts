import { connection } from '#lib/api/connection.svelte.ts';
import type { LogLine, Page, Run } from '#lib/api/types.ts';
import type { LinkState } from '#lib/live/live-socket.ts';
import { getRun, logPage, logTail, searchLogs, stopRun } from '../api.ts';
import { isActive } from '../labels.ts';
import { LogWindow, chunkLines } from '../log/log-window.ts';
import { refreshRunsOf } from '../refresh-runs.ts';
import { RunSpans } from '../spans/run-spans.svelte.ts';
import { openRunSocket } from './open-run-socket.ts';
import type { RunSocket } from './run-socket.ts';
import { RunUsage } from './usage-samples.svelte.ts';

/** The delay before the page retries a failed request for log lines. */
const pageRetryMs = 2000;

/** A run that is updated live: its state, and the part of its log that is in memory. */
export class LiveRun {
  run: Run = $state.raw() as Run;
  link = $state.raw<LinkState>({ state: 'connecting' });
  /** The error that prevented loading the log, or null if there was none. */
  failure = $state.raw<unknown>(null);
  stopping = $state(false);
  /** Incremented when `lines` has changed. For performance, the log window itself is not reactive. */
  revision = $state(0);
  readonly lines = new LogWindow();
  readonly usage: RunUsage;
  readonly spans: RunSpans;
  readonly #loading = new Set<number>();
  #socket: RunSocket | null = null;
  #frame = 0;
  #closed = false;
  readonly #forgetConnection: () => void;

  constructor(run: Run) {
    this.run = run;
    this.usage = new RunUsage(run.run_id);
    this.spans = new RunSpans(run.run_id);
    this.#forgetConnection = connection.onBack(() => void this.start());
  }

  /** Loads the end of the log and follows the run while it is active. Another call resumes following. */
  async start(): Promise<void> {
    if (this.#closed) return;
    if (this.#socket) return this.#socket.connect();
    try {
      // The log of a queued run is empty, so the request is skipped and the first line appears sooner.
      if (this.run.status !== 'queued') this.#put(await logTail(this.run.run_id, chunkLines));
      this.failure = null;
    } catch (error) {
      this.failure = error;
      return;
    }
    if (this.#closed) return;
    if (isActive(this.run.status)) this.#follow();
    else this.link = { state: 'ended' };
    if (this.run.log_truncated) void this.#findTruncation();
  }

  /** Closes the connection. Calling it again has no effect. */
  close(): void {
    this.#closed = true;
    this.#socket?.close();
    this.#forgetConnection();
    cancelAnimationFrame(this.#frame);
  }

  /** Loads the missing log lines for these rows. */
  need(firstRow: number, count: number): void {
    for (const fromSeq of this.lines.missing(firstRow, count)) {
      if (!this.#loading.has(fromSeq)) void this.#loadPage(fromSeq);
    }
  }

  /** @throws ApiError 409 if the run has already ended */
  async requestStop(): Promise<void> {
    this.stopping = true;
    try {
      await stopRun(this.run.run_id);
    } catch (error) {
      this.stopping = false;
      throw error;
    }
  }

  #follow(): void {
    this.#socket = openRunSocket(this.run.run_id, this.lines.lastSeq + 1, {
      onLines: (lines) => this.#put(lines),
      onRun: (run) => {
        const changed = run.status !== this.run.status;
        this.run = run;
        if (changed) refreshRunsOf(run.script_id);
      },
      onProgress: (progress) => (this.run = { ...this.run, progress }),
      onSpan: (span) => this.spans.put(span),
      onSample: (sample) => this.usage.put(sample),
      onEnd: () => void this.#onEnd(),
      onLink: (link) => {
        this.link = link;
        // Checks whether the server is unreachable too, so that the banner can show it immediately.
        if (link.state === 'waiting') void connection.probe();
      },
    });
    void this.#socket.connect();
  }

  async #onEnd(): Promise<void> {
    this.run = await getRun(this.run.run_id).catch(() => this.run);
    this.stopping = false;
    refreshRunsOf(this.run.script_id);
    if (this.run.log_truncated) await this.#findTruncation();
  }

  /** Finds the line that marks the truncated middle. The line is needed to count the rows before it. */
  async #findTruncation(): Promise<void> {
    let cursor: string | null = null;
    do {
      const page: Page<LogLine> | null = await searchLogs(
        this.run.run_id,
        { stream: 'system' },
        cursor,
      ).catch(() => null);
      const mark = page?.items.find((line) => line.to_seq !== undefined);
      if (mark) return this.#put([mark]);
      cursor = page?.next_cursor ?? null;
    } while (cursor !== null && !this.#closed);
  }

  async #loadPage(fromSeq: number): Promise<void> {
    this.#loading.add(fromSeq);
    try {
      this.lines.putPage(fromSeq, await logPage(this.run.run_id, fromSeq));
      this.failure = null;
      this.#loading.delete(fromSeq);
    } catch (error) {
      this.failure = error;
      setTimeout(() => this.#loading.delete(fromSeq), pageRetryMs);
    }
    this.#changed();
  }

  #put(lines: LogLine[]): void {
    if (lines.length === 0) return;
    this.lines.put(lines);
    this.#changed();
  }

  /** Redraws at most once per animation frame, regardless of the number of new lines. */
  #changed(): void {
    if (this.#frame || this.#closed) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.revision += 1;
    });
  }
}
