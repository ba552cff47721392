/** Converts stored chunks to the items that a reader sees, in both directions. Pure. */
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

/** The last line that an item covers. */
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

// The time of an omitted line is unknown; the time of the next line is the closest.
function gap(fromSeq: number, toSeq: number, after: LogItem | undefined): LogItem[] {
  return after === undefined || toSeq < fromSeq ? [] : [truncationItem(fromSeq, toSeq, after.time)];
}

/** The items of `chunk` from `fromSeq`, after the gap before it if there is one. */
export function forwards(chunk: LogChunk, fromSeq: number): LogItem[] {
  const items = itemsOf(chunk).filter((item) => item.seq >= fromSeq);
  return [...gap(fromSeq, chunk.firstSeq - 1, items[0]), ...items];
}

/** The gap between `older` (or `fromSeq`, if no older chunk is stored) and the chunk after it. */
export function gapBetween(
  older: LogChunk | undefined,
  newer: LogChunk | undefined,
  fromSeq: number,
): LogItem[] {
  if (newer === undefined) return [];
  const start = older === undefined ? fromSeq : Math.max(fromSeq, older.lastSeq + 1);
  return start < newer.firstSeq ? gap(start, newer.firstSeq - 1, itemsOf(newer)[0]) : [];
}
