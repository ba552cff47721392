import type { LineRange } from './line-range.ts';

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
