/** Batches the log appends of all runs in a process. Chunks that arrive during a call are sent together in the next
 *  call. Therefore, the number of calls does not grow with the number of runs. */
import type { LogChunk, RunLogs } from '#domain/ports/run-logs.ts';

type LogStore = Pick<RunLogs, 'append' | 'removeChunks'>;

// The maximum number of concurrent calls. A second call prevents a large call from delaying another run's first line.
const WIDTH = 2;
const MAX_CALL_SIZE = 1024 * 1024;

interface Waiting {
  readonly chunks: readonly LogChunk[];
  readonly size: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Batches the appends to a store. If a call fails, all callers in the batch receive the error and retry separately. */
export function joinAppends(store: LogStore): LogStore {
  const waiting: Waiting[] = [];
  let underWay = 0;

  const take = (): Waiting[] => {
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
        await store.append(calls.flatMap(({ chunks }) => chunks));
        for (const { resolve } of calls) resolve();
      } catch (error) {
        for (const { reject } of calls) reject(error);
      }
    }
    underWay -= 1;
  };

  return {
    append: (chunks) =>
      new Promise((resolve, reject) => {
        const size = chunks.reduce((sum, { itemsJson }) => sum + itemsJson.length, 0);
        waiting.push({ chunks, size, resolve, reject });
        if (underWay < WIDTH) void work();
      }),
    removeChunks: (runId, fromSeq, toSeq) => store.removeChunks(runId, fromSeq, toSeq),
  };
}
