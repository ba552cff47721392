/** Asks a service how it is. */
import { get } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

const REQUEST_PATIENCE_MS = 2_000;

/** How long a service may stay silent: `misses` requests in a row, `everyMs` after one another. */
export interface Patience {
  readonly everyMs: number;
  readonly misses: number;
}

/** Longer than any pause of a service that works, on a machine that is busy. */
const usualPatience: Patience = { everyMs: 3_000, misses: 6 };

/** Whether the address answers 200. */
export async function isHealthy(url: string): Promise<boolean> {
  return (await ask(url)) === 200;
}

/** Asks again and again, and resolves once nothing answers. Any response is one: a service that says that it is not
 *  well lives. So is a connection that is refused, since then its process ends, or is at its limit.
 *  @returns false when `signal` ended the asking */
export async function untilSilent(
  url: string,
  signal: AbortSignal,
  { everyMs, misses } = usualPatience,
): Promise<boolean> {
  for (let missed = 0; missed < misses;) {
    await wait(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return false;
    missed = (await ask(url)) === 'silent' ? missed + 1 : 0;
  }
  return !signal.aborted;
}

/** @returns the status of the response */
function ask(url: string): Promise<number | 'refused' | 'silent'> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: REQUEST_PATIENCE_MS }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once('timeout', () => {
      resolve('silent');
      request.destroy();
    });
    request.once('error', () => resolve('refused'));
  });
}
