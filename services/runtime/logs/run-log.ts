/** The log of one run, from the bytes of its process to the store. */
import { createLineSplitter, type LogLine } from '#services/shared/line-splitter.ts';
import { TextEnd } from './text-end.ts';
import type { LogTotals, LogWriter } from './log-writer.ts';
import { Masker } from './masker.ts';
import { systemTimers, type Timers } from './timers.ts';

// Long enough for the rest of a line that was cut by the pipe, short enough for a prompt.
const PARTIAL_LINE_WAIT_MS = 100;
/** A progress bar that goes on for an hour leaves some hundred lines, not tens of thousands. */
const REDRAWN_LINE_WAIT_MS = 5_000;
/** A traceback with its causes, in all but rare cases. */
const ERROR_TEXT_LENGTH = 64 * 1024;

export interface RunLog {
  /** Takes bytes of the process. Wait for it before reading more: it is slow when the store is. */
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void>;
  /** Adds lines of the platform's own, such as those of a build. Text may hold several lines. */
  system(text: string): Promise<void>;
  /** Shows `***` in place of these secrets from now on: call it before the process has them. */
  mask(values: readonly string[]): void;
  /** All values that `mask` received. */
  maskedValues(): readonly string[];
  /** The text as the log would show it. */
  masked(text: string): string;
  /** The end of what came on stderr, as the log shows it; whole once the log is closed. */
  errorText(): string;
  /** Stores everything and ends the log.
   *  @throws what `LogWriter.close` throws */
  close(): Promise<LogTotals>;
}

export function createRunLog(writer: LogWriter, timers: Timers = systemTimers): RunLog {
  const splitter = createLineSplitter();
  const masker = new Masker();
  const masked = new Set<string>();
  const errors = new TextEnd(ERROR_TEXT_LENGTH);
  const store = (lines: readonly LogLine[]) => {
    for (const { stream, text } of lines) if (stream === 'stderr') errors.add(text);
    return writer.write(lines);
  };
  const streams = { stdout: masker.stream(), stderr: masker.stream() };
  let cancelWait: (() => void) | undefined;

  const stopWaiting = () => {
    cancelWait?.();
    cancelWait = undefined;
  };
  // A process that was held up finds its timers due before its input: one more turn lets in what has
  // arrived meanwhile, which calls this off when it ends the line.
  const waitATurn = () => {
    cancelWait = timers.after(0, flushPartial);
  };
  const flushPartial = () => {
    cancelWait = undefined;
    // Nobody waits for this one; at most two lines escape the back-pressure.
    void store(splitter.flush(false));
  };

  return {
    async write(stream, bytes) {
      const lines = splitter.push(stream, streams[stream].push(bytes));
      // What is partial now has just begun; without a new line the older wait goes on.
      if (lines.length > 0) stopWaiting();
      await store(lines);
      // Only from here on is more being read: before, the rest of the line may be in the pipe.
      if (!splitter.hasPartial()) return;
      const waitMs = splitter.isRedrawing() ? REDRAWN_LINE_WAIT_MS : PARTIAL_LINE_WAIT_MS;
      cancelWait ??= timers.after(waitMs, waitATurn);
    },
    system(text) {
      const own = createLineSplitter();
      const lines = [...own.push('stdout', Buffer.from(masker.text(text))), ...own.flush(true)];
      return writer.write(lines.map((line) => ({ stream: 'system', text: line.text })));
    },
    mask(values) {
      for (const value of values) masked.add(value);
      masker.add(values);
    },
    maskedValues: () => [...masked],
    masked: (text) => masker.text(text),
    errorText: () => errors.text(),
    async close() {
      stopWaiting();
      const rest = (['stdout', 'stderr'] as const).flatMap((stream) =>
        splitter.push(stream, streams[stream].end()),
      );
      await store([...rest, ...splitter.flush(true)]);
      const { excess } = writer;
      if (excess !== undefined) await writer.write([{ stream: 'system', text: excess }]);
      return writer.close();
    },
  };
}
