/** Splits the output of a run's process into lines, and stores the lines. */
import { plainLog } from '#domain/run/error/plain-log.ts';
import { createLineSplitter, type LogLine } from '#services/shared/line-splitter.ts';
import { TextEnd } from './text-end.ts';
import type { LogTotals, LogWriter } from './log-writer.ts';
import { Masker } from './masker.ts';
import { systemTimers, type Timers } from './timers.ts';

// How long a partial line waits for the rest of the line. The pipe may have split the line, but a prompt must appear
// promptly.
const PARTIAL_LINE_WAIT_MS = 100;
/**
 * How often a progress bar is stored, so that an hour of progress produces hundreds of lines instead of tens of
 * thousands.
 */
const REDRAWN_LINE_WAIT_MS = 5_000;
/**
 * How many characters are kept from the end of stderr. This suffices for almost all tracebacks, including chained
 * exceptions.
 */
const ERROR_TEXT_LENGTH = 64 * 1024;

export interface RunLog {
  /** Adds output from the process. Await the result before reading more output, so that the process waits for the
   *  store. */
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void>;
  /** Adds lines from the platform, such as a build's output. The text may contain several lines. */
  system(text: string): Promise<void>;
  /** Replaces these secrets with `***` from now on. Call this method before the process receives the secrets. */
  mask(values: readonly string[]): void;
  /** Returns all values that `mask` received. */
  maskedValues(): readonly string[];
  /** Masks a text in the same way as the log. */
  masked(text: string): string;
  /** Masks the beginning of a longer text. Omits the end of this part if a secret could begin there. */
  maskedStart(text: string): string;
  /** Returns the end of the script's error output. Logging library formats are converted (`plainLog`), and secrets
   *  are masked. The text is complete after the log is closed. */
  errorText(): string;
  /** Returns the end of the other output stream, in the same form. The result is empty if the script merges its
   *  streams. */
  outputText(): string;
  /** Stores all lines and ends the log.
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
  // Masks the text again, because removing escapes, colors and line breaks can reveal a secret.
  const endOf = (stream: 'stdout' | 'stderr') => masker.text(plainLog(ends[stream].text()));
  const streams = { stdout: masker.stream(), stderr: masker.stream() };
  let cancelWait: (() => void) | undefined;

  const stopWaiting = () => {
    cancelWait?.();
    cancelWait = undefined;
  };
  // Waits one more turn of the event loop. If this process is delayed, timers fire before pending input is read. Such
  // input may complete the line, which then cancels the flush.
  const waitATurn = () => {
    cancelWait = timers.after(0, flushPartial);
  };
  const flushPartial = () => {
    cancelWait = undefined;
    // Does not wait for the store, because at most two lines are added.
    void store(splitter.flush(false));
  };

  return {
    async write(stream, bytes) {
      const lines = splitter.push(stream, streams[stream].push(bytes));
      // If lines were completed, the current partial line is new, so its wait starts again.
      if (lines.length > 0) stopWaiting();
      await store(lines);
      // Starts the timer only when reading is about to continue. Until then, the rest of the line may have been in the
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
