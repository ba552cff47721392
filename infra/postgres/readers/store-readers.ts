/** Advances readers of the whole event store. Readers at the same position advance together, and a failing reader does
 *  not stop the others. */
import { startOfStore, type Position } from '#domain/kernel/event.ts';
import type { Queryable } from '../database.ts';
import { isSamePlace, makeCheckpoint, readCheckpoints, type Reader } from './checkpoints.ts';

/** Readers at the same position. */
export interface AtPlace<Some extends Reader> {
  readonly after: Position;
  readonly readers: readonly Some[];
}

/** Groups readers by position without locking their checkpoints. Creates checkpoints for new readers. Usually, all
 *  readers are at the same position. */
async function byPlace<Some extends Reader>(
  db: Queryable,
  readers: readonly Some[],
): Promise<readonly AtPlace<Some>[]> {
  const names = readers.map(({ name }) => name);
  const places = await readCheckpoints(db, names);
  const found: { after: Position; readers: Some[] }[] = [];
  for (const reader of readers) {
    const { name, version = 1 } = reader;
    const after = places.get(name) ?? startOfStore;
    if (!places.has(name)) await makeCheckpoint(db, name, version);
    const those = found.find((one) => isSamePlace(one.after, after));
    if (those === undefined) found.push({ after, readers: [reader] });
    else those.readers.push(reader);
  }
  return found;
}

/** The result of one step for a set of readers. */
export interface Step {
  /** The number of processed events, summed over the readers. */
  readonly seen: number;
  readonly isMore: boolean;
}

/** Advances readers step by step until each reader has failed or reached the end of the event store.
 *  @param step called with readers at the same position; adds readers that cannot continue to `failed`
 *  @returns the number of processed events, summed over the readers
 *  @throws the error of the first failed reader, after the other readers have advanced as far as possible */
export async function readOn<Some extends Reader>(
  db: Queryable,
  readers: readonly Some[],
  signal: AbortSignal,
  step: (those: AtPlace<Some>, failed: Map<Some, unknown>) => Promise<Step>,
): Promise<number> {
  const failed = new Map<Some, unknown>();
  let seen = 0;
  for (let isMore = true; isMore && !signal.aborted;) {
    isMore = false;
    const well = readers.filter((one) => !failed.has(one));
    for (const those of await byPlace(db, well)) {
      if (signal.aborted) break;
      const done = await step(those, failed);
      seen += done.seen;
      isMore ||= done.isMore;
    }
  }
  const [first] = failed.values();
  if (failed.size > 0) throw first;
  return seen;
}
