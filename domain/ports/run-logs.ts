/** Where the lines of runs are kept: contract, "Run log".
 *
 *  Lines are stored in chunks, encoded once as the JSON text that the WebSocket sends. A line's `seq`
 *  starts at 1 in each run and has no gaps. Where stored chunks are not contiguous, truncation has
 *  left out the middle. */

export type LogStream = 'stdout' | 'stderr' | 'system';

/** One line, in the form that clients see. */
export interface LogItem {
  readonly seq: number;
  /** RFC 3339 in UTC with milliseconds. */
  readonly time: string;
  readonly stream: LogStream;
  readonly text: string;
  /** Set on the `system` line that stands for lines left out: the first and the last of them. */
  readonly from_seq?: number;
  readonly to_seq?: number;
}

/** Consecutive lines of one run, stored and sent as a whole. */
export interface LogChunk {
  readonly runId: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Size of the lines as plain text in UTF-8, each with its line end. */
  readonly bytes: number;
  /** JSON array text of the `LogItem`s. */
  readonly itemsJson: string;
}

export interface LogQuery {
  /** The first line wanted; 1 is the beginning. */
  readonly fromSeq: number;
  /** Items at most, from 1. */
  readonly limit: number;
  /** Only the last `limit` items that match, instead of the first; `fromSeq` still holds. */
  readonly fromEnd?: boolean;
  readonly stream?: LogStream;
  /** Only lines that contain this text, in any case. */
  readonly contains?: string;
}

export interface LogPage {
  readonly items: readonly LogItem[];
  /** Where to go on, also when this page is empty. With `fromEnd`: after the newest line there is. */
  readonly nextSeq: number;
  /** Whether there is more to look through in the direction of reading. */
  readonly more: boolean;
}

export interface RunLogs {
  /** Stores chunks of any number of runs, all or none; a chunk that is already there is left as it
   *  is, so that trying again is safe.
   *  @throws when the store is away */
  append(chunks: readonly LogChunk[]): Promise<void>;

  /** Removes the chunks that begin at `fromSeq` … `toSeq`, both included; safe to repeat. */
  removeChunks(runId: string, fromSeq: number, toSeq: number): Promise<void>;

  /** One page of a run's lines. Each call looks through a bounded amount of text, so that a page may
   *  hold fewer items than `limit` although `more` is true. */
  read(runId: string, query: LogQuery): Promise<LogPage>;

  /** Stored chunks from the one that holds `fromSeq`, in order, at most `limit`: for subscribers who
   *  get the stored text as it is. The first may begin before `fromSeq`, and there may be a gap
   *  before any of them (`leftOut`). */
  readChunks(runId: string, fromSeq: number, limit: number): Promise<readonly LogChunk[]>;
}

/** The item that stands for the lines `fromSeq` … `toSeq`, which truncation left out. */
export function leftOut(fromSeq: number, toSeq: number, time: string): LogItem {
  const count = toSeq - fromSeq + 1;
  const text = count === 1 ? '… 1 line left out …' : `… ${count} lines left out …`;
  return { seq: fromSeq, time, stream: 'system', text, from_seq: fromSeq, to_seq: toSeq };
}

/** What removes the lines of a run that has ended. */
export type RemovedBy = 'retention' | 'purge';

/** The item that stands for the lines `fromSeq` … `toSeq`, which are kept no longer. */
export function removedLines(fromSeq: number, toSeq: number, time: string, by: RemovedBy): LogItem {
  const count = toSeq - fromSeq + 1;
  const lines = count === 1 ? '1 line was' : `${count} lines were`;
  const why = by === 'retention' ? 'by retention' : 'when the script was purged';
  const text = `… ${lines} removed ${why} …`;
  return { seq: fromSeq, time, stream: 'system', text, from_seq: fromSeq, to_seq: toSeq };
}
