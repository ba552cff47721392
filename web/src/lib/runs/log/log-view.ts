import type { LogLevel, LogStream } from '#lib/api/types.ts';
import type { LineRange } from './line-range.ts';

/** The lines to list: of one stream, or of at least one level; empty for all. */
export type LogPart = LogStream | LogLevel | '';

/** The filter of the API for a part of the log. */
export function filterOf(part: LogPart): { stream?: LogStream; level?: LogLevel } {
  if (part === '') return {};
  return part === 'stdout' || part === 'stderr' || part === 'system'
    ? { stream: part }
    : { level: part };
}

/** How the lines of a log are shown. */
export interface LogView {
  times: 'off' | 'clock' | 'elapsed';
  /** What elapsed times count from, in milliseconds since 1970. */
  sinceMs: number;
  wraps: boolean;
  /** What is searched for; empty for nothing. */
  q: string;
  /** The line that was found last. */
  foundSeq: number | null;
  /** The lines that are chosen. */
  range: LineRange | null;
}
