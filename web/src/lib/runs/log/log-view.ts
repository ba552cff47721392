import type { LogLevel, LogStream } from '#lib/api/types.ts';
import type { LineRange } from './line-range.ts';

/** The lines to list: the lines of one stream, or the lines of at least one level; empty for all lines. */
export type LogPart = LogStream | LogLevel | '';

/** The API filter for a part of the log. */
export function filterOf(part: LogPart): { stream?: LogStream; level?: LogLevel } {
  if (part === '') return {};
  return part === 'stdout' || part === 'stderr' || part === 'system'
    ? { stream: part }
    : { level: part };
}

/** How to display the lines of a log. */
export interface LogView {
  times: 'off' | 'clock' | 'elapsed';
  /** The start of elapsed times, in milliseconds since 1970. */
  sinceMs: number;
  wraps: boolean;
  /** The search text; empty for none. */
  q: string;
  /** The line of the current match. */
  foundSeq: number | null;
  /** The selected lines. */
  range: LineRange | null;
}
