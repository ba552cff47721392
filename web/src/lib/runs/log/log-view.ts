import type { LineRange } from './line-range.ts';

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
