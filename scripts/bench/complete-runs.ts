import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { LogLine, Product } from '#services/minimal/testing/product.ts';

const pollMs = 5;

/** Returns the milliseconds from the POST request for a run to the run's first log line at a WebSocket client. */
export async function timeFirstLine(product: Product, scriptId: string): Promise<number> {
  const startedAt = performance.now();
  const { run_id: runId } = await product.run(scriptId);
  const socket = product.follow(runId);
  const elapsed = await new Promise<number>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as { type: string; items?: LogLine[] };
      if (frame.items?.some((line) => line.stream !== 'system') === true) {
        resolve(performance.now() - startedAt);
      }
    });
  });
  // Waits for this run to finish, so that runs do not overlap.
  await once(socket, 'close');
  return elapsed;
}

/** Submits runs with `lanes` concurrent requests. Resolves when all runs have finished. */
export async function completeRuns(
  product: Product,
  scriptId: string,
  runs: number,
  lanes: number,
): Promise<void> {
  await inParallel(runs, lanes, async () => void (await product.run(scriptId)));
  while (await areThere(product, scriptId, 'queued,running')) await pause(pollMs);
}

/** Sends a single request for all runs, so that polling does not distort the measurement. */
export async function areThere(
  product: Product,
  scriptId: string,
  status: string,
): Promise<boolean> {
  const path = `/runs?script_id=${scriptId}&status=${encodeURIComponent(status)}&limit=1`;
  const { items } = await product.call<{ items: readonly unknown[] }>('GET', path);
  return items.length > 0;
}

/** Calls a function `count` times, with at most `lanes` concurrent calls. */
export async function inParallel(
  count: number,
  lanes: number,
  work: () => Promise<unknown>,
): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (left > 0) {
        left -= 1;
        await work();
      }
    }),
  );
}
