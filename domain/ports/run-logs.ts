/** Storage of the log lines of runs: contract, "Run log".
 *  Lines are stored in chunks, encoded once as the JSON text that the WebSocket sends. The `seq` of a run's lines
 *  starts at 1 and has no gaps. A gap between stored chunks means that the middle was truncated. */

export type LogStream = 'stdout' | 'stderr' | 'system';

/** Levels of log records, least severe first. */
export const logLevels = ['debug', 'info', 'warning', 'error', 'critical'] as const;
export type LogLevel = (typeof logLevels)[number];

/** One line, as clients see it. */
export interface LogItem {
  readonly seq: number;
  /** RFC 3339 in UTC with milliseconds. */
  readonly time: string;
  readonly stream: LogStream;
  /** Level of the log record to which the line belongs; null if the line shows no level. */
  readonly level: LogLevel | null;
  readonly text: string;
  /** The first and last omitted line. Set on the `system` line that replaces the omitted lines. */
  readonly from_seq?: number;
  readonly to_seq?: number;
}

/** Consecutive lines of one run, stored and sent as a unit. */
export interface LogChunk {
  readonly runId: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Size of the lines as plain text in UTF-8, including line ends. */
  readonly bytes: number;
  /** JSON array text of the `LogItem`s. */
  readonly itemsJson: string;
}

export interface LogQuery {
  /** The first requested line; 1 is the beginning. */
  readonly fromSeq: number;
  /** Maximum number of items, at least 1. */
  readonly limit: number;
  /** Returns the last `limit` matching items instead of the first; `fromSeq` still applies. */
  readonly fromEnd?: boolean;
  readonly stream?: LogStream;
  /** Only lines of this level or above. */
  readonly minLevel?: LogLevel;
  /** Only lines that contain this text, ignoring case. */
  readonly contains?: string;
}

export interface LogPage {
  readonly items: readonly LogItem[];
  /** The next `fromSeq`, even after an empty page. With `fromEnd`: the line after the newest line. */
  readonly nextSeq: number;
  /** Whether more lines remain in the direction of reading. */
  readonly more: boolean;
}

export interface RunLogs {
  /** Stores chunks of any number of runs atomically. Existing chunks are unchanged, so retrying is safe.
   *  @throws if the store is unavailable */
  append(chunks: readonly LogChunk[]): Promise<void>;

  /** Deletes the chunks that begin at `fromSeq` … `toSeq`, both included; idempotent. */
  removeChunks(runId: string, fromSeq: number, toSeq: number): Promise<void>;

  /** One page of a run's lines. Each call scans a bounded amount of text, so a page may hold fewer items than
   *  `limit` although `more` is true. */
  read(runId: string, query: LogQuery): Promise<LogPage>;

  /** Stored chunks in order, starting with the chunk that holds `fromSeq`; at most `limit`. Intended for
   *  subscribers that receive the stored text unchanged. The first chunk may begin before `fromSeq`, and any chunk
   *  may follow a gap (`truncationItem`). */
  readChunks(runId: string, fromSeq: number, limit: number): Promise<readonly LogChunk[]>;
}

/** The item that replaces the truncated lines `fromSeq` … `toSeq`. */
export function truncationItem(fromSeq: number, toSeq: number, time: string): LogItem {
  const count = toSeq - fromSeq + 1;
  const text = count === 1 ? '… 1 line left out …' : `… ${count} lines left out …`;
  return gapItem(fromSeq, toSeq, time, text);
}

/** The reason for the deletion of log lines. */
export type RemovedBy = 'retention' | 'purge';

/** The item that replaces the lines `fromSeq` … `toSeq`, whose retention has expired. */
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
