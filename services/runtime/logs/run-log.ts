/** Converts the output of one run's process to lines, and stores them. */
import { plainLog } from '#domain/run/error/plain-log.ts';
import { createLineSplitter, type LogLine } from '#services/shared/line-splitter.ts';
import { TextEnd } from './text-end.ts';
import type { LogTotals, LogWriter } from './log-writer.ts';
import { Masker } from './masker.ts';
import { systemTimers, type Timers } from './timers.ts';

// The wait for the rest of a line: long enough for a line that the pipe has split, and short enough for a prompt.
const PARTIAL_LINE_WAIT_MS = 100;
/** The interval between stored states of a progress bar. In an hour, a progress bar leaves several hundred lines, not
 *  tens of thousands. */
const REDRAWN_LINE_WAIT_MS = 5_000;
/** The length of the kept end of stderr: enough for almost all tracebacks with their causes. */
const ERROR_TEXT_LENGTH = 64 * 1024;

export interface RunLog {
  /** Adds output of the process. Wait for it before reading more: it slows down with the store. */
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void>;
  /** Adds lines of the platform, such as those of a build. The text may contain several lines. */
  system(text: string): Promise<void>;
  /** Replaces these secrets with `***` from now on. Call it before the process receives them. */
  mask(values: readonly string[]): void;
  /** All values that `mask` received. */
  maskedValues(): readonly string[];
  /** The text as shown in the log. */
  masked(text: string): string;
  /** The same for the start of a text that continues: omits an end that could be the beginning of a secret. */
  maskedStart(text: string): string;
  /** The end of the script's error output, with the formats of logging libraries rewritten (`plainLog`); complete after
   *  the log is closed. Secrets are masked. */
  errorText(): string;
  /** The same for the other output. Empty if the script merges its streams. */
  outputText(): string;
  /** Stores everything and ends the log.
   *  @throws the errors of `LogWriter.close` */
  close(): Promise<LogTotals>;
}

export interface RunLogOptions {
  readonly timers?: Timers;
  /** The stream with the errors of the script. */
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
  // Masked again, because a secret that was escaped, coloured or wrapped is complete only now.
  const endOf = (stream: 'stdout' | 'stderr') => masker.text(plainLog(ends[stream].text()));
  const streams = { stdout: masker.stream(), stderr: masker.stream() };
  let cancelWait: (() => void) | undefined;

  const stopWaiting = () => {
    cancelWait?.();
    cancelWait = undefined;
  };
  // If this process is delayed, timers fire before its input is read. Waits for one more turn of the event
  // loop, so that input that has arrived in the meantime can end the line and cancel the flush.
  const waitATurn = () => {
    cancelWait = timers.after(0, flushPartial);
  };
  const flushPartial = () => {
    cancelWait = undefined;
    // Not awaited: at most two lines are added without back-pressure.
    void store(splitter.flush(false));
  };

  return {
    async write(stream, bytes) {
      const lines = splitter.push(stream, streams[stream].push(bytes));
      // The current partial line is new; without a new line, the earlier wait continues.
      if (lines.length > 0) stopWaiting();
      await store(lines);
      // The wait starts when reading continues, because until then the rest of the line may still be in the pipe.
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
