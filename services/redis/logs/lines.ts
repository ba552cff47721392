/** Converts log lines to stream entries. */
import { parseRunId, type RunId } from '#domain/kernel/ids.ts';
import type { LogItem, RunLogs } from '#domain/ports/run-logs.ts';
import { findRuns } from '#projections/runs/queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import { isIn, type Caller } from '../callers.ts';
import type { Key } from '../keys.ts';
import type { Reply } from '../resp/replies.ts';
import { placeOf } from './places.ts';

const pageSize = 1000;

export interface LineDeps {
  readonly reads: ReadModels;
  readonly runLogs: RunLogs;
}

export interface Wanted {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** The maximum size of the result in bytes. */
  readonly bytes: number;
}

/** @returns `undefined` if the lines exceed the maximum size */
export async function linesOf(
  runId: RunId,
  { from, to, count, bytes }: Wanted,
  { runLogs }: LineDeps,
): Promise<readonly LogItem[] | undefined> {
  const items: LogItem[] = [];
  let size = 0;
  for (let fromSeq = Math.max(1, from); fromSeq <= to && items.length < count;) {
    const limit = Math.min(pageSize, count - items.length);
    const page = await runLogs.read(runId, { fromSeq, limit });
    const within = page.items.filter(({ seq }) => seq <= to);
    size += sizeOf(within);
    if (size > bytes) return undefined;
    items.push(...within);
    if (!page.more || within.length < page.items.length) break;
    fromSeq = page.nextSeq;
  }
  return items;
}

/** Returns the last lines of a range, newest first. The log is read in pages, starting at its end.
 *  @returns `undefined` if the lines exceed `bytes` */
export async function lastLinesOf(
  runId: RunId,
  { from, to, count, bytes }: Wanted,
  deps: LineDeps,
): Promise<readonly LogItem[] | undefined> {
  const items: LogItem[] = [];
  let size = 0;
  let last = Math.min(to, await lengthOf(runId, deps));
  while (last >= Math.max(1, from) && items.length < count) {
    const lines = Math.min(pageSize, count - items.length);
    const first = Math.max(1, from, last - lines + 1);
    const page = await linesOf(runId, { from: first, to: last, count: lines, bytes }, deps);
    if (page === undefined) return undefined;
    // Skips entries that the previous page already contained. An entry for omitted lines can be in two pages.
    const oldest = items.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
    const wanted = page.filter(({ seq }) => seq < oldest).toReversed();
    size += sizeOf(wanted);
    if (size > bytes) return undefined;
    items.push(...wanted);
    last = first - 1;
  }
  return items;
}

export function sizeOf(items: readonly LogItem[]): number {
  return items.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 128, 0);
}

export function entry({ seq, time, stream, text, from_seq: from, to_seq: to }: LogItem): Reply {
  const gap = from === undefined ? [] : ['from_seq', String(from), 'to_seq', String(to ?? from)];
  return [placeOf(seq), ['time', time, 'stream', stream, 'text', text, ...gap]];
}

/** Returns the number of the last line. */
export async function lengthOf(runId: RunId, { runLogs }: LineDeps): Promise<number> {
  const page = await runLogs.read(runId, { fromSeq: 1, limit: 1, fromEnd: true });
  return page.nextSeq - 1;
}

/** Returns the runs whose logs the caller may read, given their log keys. */
export async function visible(
  keys: readonly Key[],
  caller: Caller,
  { reads }: LineDeps,
): Promise<readonly RunId[]> {
  const ids = keys.flatMap((key) => (key.kind === 'logs' ? key.runId : []));
  if (ids.length === 0) return [];
  const runs = await findRuns(reads, [...new Set(ids)]);
  return runs.flatMap((run) => (isIn(caller, run.group_id) ? (parseRunId(run.run_id) ?? []) : []));
}
