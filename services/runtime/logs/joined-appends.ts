/** Batches the calls of all runs of a process. Items that arrive during a call are sent together in the next call, so
 *  the number of calls does not grow with the number of runs. */
import type { LogChunk, RunLogs } from '#domain/ports/run-logs.ts';

type LogStore = Pick<RunLogs, 'append' | 'removeChunks'>;

// Two concurrent calls, so that a large one does not delay another run's first line.
const WIDTH = 2;
const MAX_CALL_SIZE = 1024 * 1024;

interface Waiting<Item> {
  readonly items: readonly Item[];
  readonly size: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Batches the appends to a store. If a call fails, all callers in the batch receive the error and retry separately. */
export function joinAppends(store: LogStore): LogStore {
  return {
    append: joinCalls(
      (chunks: readonly LogChunk[]) => store.append(chunks),
      ({ itemsJson }) => itemsJson.length,
    ),
    removeChunks: (runId, fromSeq, toSeq) => store.removeChunks(runId, fromSeq, toSeq),
  };
}

/** Batches the calls of a function. If a call fails, all callers in the batch receive the error.
 *  @param sizeOf the size of an item, in characters */
function joinCalls<Item>(
  call: (items: readonly Item[]) => Promise<void>,
  sizeOf: (item: Item) => number,
): (items: readonly Item[]) => Promise<void> {
  const waiting: Waiting<Item>[] = [];
  let underWay = 0;

  const take = (): Waiting<Item>[] => {
    let size = 0;
    const count = waiting.findIndex((each, index) => {
      size += each.size;
      return index > 0 && size > MAX_CALL_SIZE;
    });
    return waiting.splice(0, count === -1 ? waiting.length : count);
  };

  const work = async () => {
    underWay += 1;
    for (let calls = take(); calls.length > 0; calls = take()) {
      try {
        await call(calls.flatMap(({ items }) => items));
        for (const { resolve } of calls) resolve();
      } catch (error) {
        for (const { reject } of calls) reject(error);
      }
    }
    underWay -= 1;
  };

  return (items) =>
    new Promise((resolve, reject) => {
      const size = items.reduce((sum, item) => sum + sizeOf(item), 0);
      waiting.push({ items, size, resolve, reject });
      if (underWay < WIDTH) void work();
    });
}
