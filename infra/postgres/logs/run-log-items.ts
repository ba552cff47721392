/** Converts stored chunks to log items, forwards and backwards. All functions are pure. */
import {
  truncationItem,
  logLevels,
  type LogChunk,
  type LogItem,
  type LogLevel,
  type LogQuery,
} from '#domain/ports/run-logs.ts';

type StoredItem = Omit<LogItem, 'level'> & Partial<Pick<LogItem, 'level'>>;

export function itemsOf(chunk: LogChunk): LogItem[] {
  const items = JSON.parse(chunk.itemsJson) as StoredItem[];
  // Lines stored by earlier versions have no level.
  return items.map((item) =>
    item.level === undefined ? { ...item, level: null } : item,
  ) as LogItem[];
}

/** Returns the number of the last line in an item. */
export function endOf(item: LogItem): number {
  return item.to_seq ?? item.seq;
}

export function matches(item: LogItem, { stream, minLevel, contains }: LogQuery): boolean {
  if (stream !== undefined && item.stream !== stream) return false;
  if (minLevel !== undefined && !isAtLeast(item, minLevel)) return false;
  return contains === undefined || item.text.toLowerCase().includes(contains.toLowerCase());
}

function isAtLeast({ level }: LogItem, minLevel: LogLevel): boolean {
  return level !== null && logLevels.indexOf(level) >= logLevels.indexOf(minLevel);
}

// The time of an omitted line is unknown, so the time of the next line is used.
function gap(fromSeq: number, toSeq: number, after: LogItem | undefined): LogItem[] {
  return after === undefined || toSeq < fromSeq ? [] : [truncationItem(fromSeq, toSeq, after.time)];
}

/** Returns the items of `chunk` starting at `fromSeq`. If lines before the chunk are missing, an item for the gap comes
 *  first. */
export function forwards(chunk: LogChunk, fromSeq: number): LogItem[] {
  const items = itemsOf(chunk).filter((item) => item.seq >= fromSeq);
  return [...gap(fromSeq, chunk.firstSeq - 1, items[0]), ...items];
}

/** Returns the gap between `older` and the next chunk. If no older chunk is stored, the gap starts at `fromSeq`. */
export function gapBetween(
  older: LogChunk | undefined,
  newer: LogChunk | undefined,
  fromSeq: number,
): LogItem[] {
  if (newer === undefined) return [];
  const start = older === undefined ? fromSeq : Math.max(fromSeq, older.lastSeq + 1);
  return start < newer.firstSeq ? gap(start, newer.firstSeq - 1, itemsOf(newer)[0]) : [];
}
