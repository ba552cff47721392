/** From stored chunks to the items that a reader sees, in both directions. Pure. */
import { leftOut, type LogChunk, type LogItem, type LogQuery } from '#domain/ports/run-logs.ts';

export function itemsOf(chunk: LogChunk): LogItem[] {
  return JSON.parse(chunk.itemsJson) as LogItem[];
}

/** The last line that an item stands for. */
export function endOf(item: LogItem): number {
  return item.to_seq ?? item.seq;
}

export function matches(item: LogItem, { stream, contains }: LogQuery): boolean {
  if (stream !== undefined && item.stream !== stream) return false;
  return contains === undefined || item.text.toLowerCase().includes(contains.toLowerCase());
}

// The time of an omitted line is unknown; the time of the next line is the closest.
function gap(fromSeq: number, toSeq: number, after: LogItem | undefined): LogItem[] {
  return after === undefined || toSeq < fromSeq ? [] : [leftOut(fromSeq, toSeq, after.time)];
}

/** The items of `chunk` from `fromSeq`, after the gap before it if there is one. */
export function forwards(chunk: LogChunk, fromSeq: number): LogItem[] {
  const items = itemsOf(chunk).filter((item) => item.seq >= fromSeq);
  return [...gap(fromSeq, chunk.firstSeq - 1, items[0]), ...items];
}

/** The gap between `older` (or `fromSeq`, where nothing older is stored) and the chunk after it. */
export function gapBetween(
  older: LogChunk | undefined,
  newer: LogChunk | undefined,
  fromSeq: number,
): LogItem[] {
  if (newer === undefined) return [];
  const start = older === undefined ? fromSeq : Math.max(fromSeq, older.lastSeq + 1);
  return start < newer.firstSeq ? gap(start, newer.firstSeq - 1, itemsOf(newer)[0]) : [];
}
