/** Converts the output of one run's process to lines, and stores them. */
import { plainLog } from '#domain/run/error/plain-log.ts';
import { createLineSplitter, type LogLine } from '#services/shared/line-splitter.ts';
import { TextEnd } from './text-end.ts';
import type { LogTotals, LogWriter } from './log-writer.ts';
import { Masker } from './masker.ts';
import { systemTimers, type Timers } from './timers.ts';

// How long a partial line waits for its rest. The pipe may have split the line, but a prompt must appear soon.
const PARTIAL_LINE_WAIT_MS = 100;
/** How often the state of a progress bar is stored. In an hour, a progress bar then leaves several hundred lines
 *  instead of tens of thousands. */
const REDRAWN_LINE_WAIT_MS = 5_000;
/** How much of the end of stderr is kept. Almost all tracebacks with their causes fit. */
const ERROR_TEXT_LENGTH = 64 * 1024;

export interface RunLog {
  /** Adds output of the process. Await the result before reading more, so that the process slows down with the
   *  store. */
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void>;
  /** Adds lines of the platform, such as the output of a build. The text may contain several lines. */
  system(text: string): Promise<void>;
  /** Replaces these secrets with `***` from now on. Call it before the process receives them. */
  mask(values: readonly string[]): void;
  /** All values that `mask` received. */
  maskedValues(): readonly string[];
  /** Masks a text as in the log. */
  masked(text: string): string;
  /** Masks the start of a longer text, and omits the end if a secret could begin there. */
  maskedStart(text: string): string;
  /** The end of the script's error output, with the formats of logging libraries converted (`plainLog`). Complete after
   *  the log is closed. Secrets are masked. */
  errorText(): string;
  /** The end of the other output, in the same form. Empty if the script merges its streams. */
  outputText(): string;
  /** Stores everything and ends the log.
   *  @throws the errors of `LogWriter.close` */
  close(): Promise<LogTotals>;
}

export interface RunLogOptions {
  readonly timers?: Timers;
  /** The stream to which the script writes errors. */
  readonly errorStream?: 'stdout' | 'stderr';
}

export function createRunLog(
  writer: LogWriter,
  { timers = systemTimers, errorStream = 'stderr' }: RunLogOptions = {},
): RunLog {
  const splitter = createLineSplitter();
  const masker = new Masker();
  const masked = new Set<string>();
  const ends = { stdout: new TextEnd(ERROR_TEXT_LENGTH), stderr: new TextEnd(ERROR_TEXT_LENGTH) };
  const outputStream = errorStream === 'stderr' ? 'stdout' : 'stderr';
  const store = (lines: readonly LogLine[]) => {
    for (const { stream, text } of lines) if (stream !== 'system') ends[stream].add(text);
    return writer.write(lines);
  };
  // Masks again, because removing escapes, colors and line breaks can reveal a secret.
  const endOf = (stream: 'stdout' | 'stderr') => masker.text(plainLog(ends[stream].text()));
  const streams = { stdout: masker.stream(), stderr: masker.stream() };
  let cancelWait: (() => void) | undefined;

  const stopWaiting = () => {
    cancelWait?.();
    cancelWait = undefined;
  };
  // Waits for one more turn of the event loop. If this process is delayed, timers fire before input is read; this input
  // may end the line, and then cancels the flush.
  const waitATurn = () => {
    cancelWait = timers.after(0, flushPartial);
  };
  const flushPartial = () => {
    cancelWait = undefined;
    // Does not wait for the store. At most two lines are added this way.
    void store(splitter.flush(false));
  };

  return {
    async write(stream, bytes) {
      const lines = splitter.push(stream, streams[stream].push(bytes));
      // If lines were completed, the current partial line is new, so the wait starts again.
      if (lines.length > 0) stopWaiting();
      await store(lines);
      // Starts the wait only now, when reading continues. Until then, the rest of the line may still have been in the
      // pipe.
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
    maskedStart: (text) => masker.textStart(text),
    errorText: () => endOf(errorStream),
    outputText: () => endOf(outputStream),
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
