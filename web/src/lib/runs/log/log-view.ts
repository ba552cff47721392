import type { LogLevel, LogStream } from '#lib/api/types.ts';
import type { LineRange } from './line-range.ts';

/** The lines to show: those of one stream, or those of at least the given level. An empty value shows all lines. */
export type LogPart = LogStream | LogLevel | '';

/** Returns the API filter for a part of the log. */
export function filterOf(part: LogPart): { stream?: LogStream; level?: LogLevel } {
  if (part === '') return {};
  return part === 'stdout' || part === 'stderr' || part === 'system'
    ? { stream: part }
    : { level: part };
}

/** The display options of the log. */
export interface LogView {
  times: 'off' | 'clock' | 'elapsed';
  /** The time from which elapsed times are counted, in milliseconds since 1970. */
  sinceMs: number;
  wraps: boolean;
  /** The search text, or empty if there is no search. */
  q: string;
  /** The line number of the current match. */
  foundSeq: number | null;
  /** The selected lines. */
  range: LineRange | null;
}
