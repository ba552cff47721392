/** The storage of run logs (contract, "Run log"). Lines are stored in chunks. Each chunk contains the JSON that the
 *  WebSocket sends. The `seq` of a run's lines starts at 1 and has no gaps. If there is a gap between stored chunks,
 *  the middle of the log was truncated. */

export type LogStream = 'stdout' | 'stderr' | 'system';

/** Levels of log records, least severe first. */
export const logLevels = ['debug', 'info', 'warning', 'error', 'critical'] as const;
export type LogLevel = (typeof logLevels)[number];

/** One log line in the form that clients receive. */
export interface LogItem {
  readonly seq: number;
  /** In RFC 3339 format, in UTC with milliseconds. */
  readonly time: string;
  readonly stream: LogStream;
  /** Level of the log record that contains the line. Null if no level was detected. */
  readonly level: LogLevel | null;
  readonly text: string;
  /** The first and last omitted line. Set only on the `system` line that stands in for omitted lines. */
  readonly from_seq?: number;
  readonly to_seq?: number;
}

/** Consecutive log lines of one run, which are stored and sent together. */
export interface LogChunk {
  readonly runId: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Size of the lines as plain UTF-8 text, including line breaks. */
  readonly bytes: number;
  /** The `LogItem`s as a JSON array. */
  readonly itemsJson: string;
}

export interface LogQuery {
  /** The first requested line, starting at 1. */
  readonly fromSeq: number;
  /** Maximum number of items, at least 1. */
  readonly limit: number;
  /** Returns the last `limit` matching items instead of the first. `fromSeq` still applies. */
  readonly fromEnd?: boolean;
  readonly stream?: LogStream;
  /** Returns only lines with this level or a more severe one. */
  readonly minLevel?: LogLevel;
  /** Returns only lines that contain this text, ignoring case. */
  readonly contains?: string;
}

export interface LogPage {
  readonly items: readonly LogItem[];
  /** The `fromSeq` for the next page, even after an empty page. With `fromEnd`, the number after the newest line. */
  readonly nextSeq: number;
  /** Whether more matching lines may follow in the direction of reading. */
  readonly more: boolean;
}

export interface RunLogs {
  /** Stores chunks of any number of runs atomically. Existing chunks are unchanged, so retrying is safe.
   *  @throws if the store is unavailable */
  append(chunks: readonly LogChunk[]): Promise<void>;

  /** Deletes the chunks whose first line is between `fromSeq` and `toSeq`, inclusive. Repeating the call has no
   *  effect. */
  removeChunks(runId: string, fromSeq: number, toSeq: number): Promise<void>;

  /** Reads one page of a run's lines. Each call scans a limited amount of text, so a page may contain fewer items
   *  than `limit` even if `more` is true. */
  read(runId: string, query: LogQuery): Promise<LogPage>;

  /** Reads at most `limit` stored chunks in order, starting with the chunk that contains `fromSeq`. Subscribers
   *  receive the stored text unchanged. The first chunk may begin before `fromSeq`. Any chunk may follow a gap (see
   *  `truncationItem`). */
  readChunks(runId: string, fromSeq: number, limit: number): Promise<readonly LogChunk[]>;
}

/** Returns the item that stands in for the truncated lines from `fromSeq` to `toSeq`, inclusive. */
export function truncationItem(fromSeq: number, toSeq: number, time: string): LogItem {
  const count = toSeq - fromSeq + 1;
  const text = count === 1 ? '… 1 line left out …' : `… ${count} lines left out …`;
  return gapItem(fromSeq, toSeq, time, text);
}

/** Why log lines were deleted. */
export type RemovedBy = 'retention' | 'purge';

/** Returns the item that stands in for the deleted lines from `fromSeq` to `toSeq`, inclusive. */
export function removalItem(fromSeq: number, toSeq: number, time: string, by: RemovedBy): LogItem {
  const count = toSeq - fromSeq + 1;
  const lines = count === 1 ? '1 line was' : `${count} lines were`;
  const why = by === 'retention' ? 'by retention' : 'when the script was purged';
  return gapItem(fromSeq, toSeq, time, `… ${lines} removed ${why} …`);
}

function gapItem(fromSeq: number, toSeq: number, time: string, text: string): LogItem {
  const range = { from_seq: fromSeq, to_seq: toSeq };
  return { seq: fromSeq, time, stream: 'system', level: null, text, ...range };
}
