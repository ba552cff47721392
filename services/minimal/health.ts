/** Checks the health of a service. */
import { get } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

const REQUEST_PATIENCE_MS = 2_000;

/** When a service counts as unresponsive: after `misses` consecutive failures of requests sent every `everyMs`. */
export interface HealthPolicy {
  readonly everyMs: number;
  readonly misses: number;
}

/** Longer than a healthy service can pause on a busy machine. */
const defaultHealthPolicy: HealthPolicy = { everyMs: 3_000, misses: 6 };

/** Whether a GET request to the URL returns 200. */
export async function isHealthy(url: string): Promise<boolean> {
  return (await ask(url)) === 200;
}

/** Polls until the service no longer responds. Any status counts as a response. A refused connection also counts as a
 *  response, because the process is then exiting or at its connection limit.
 *  @returns false if `signal` aborted the polling */
export async function untilSilent(
  url: string,
  signal: AbortSignal,
  { everyMs, misses } = defaultHealthPolicy,
): Promise<boolean> {
  for (let missed = 0; missed < misses;) {
    await wait(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return false;
    missed = (await ask(url)) === 'silent' ? missed + 1 : 0;
  }
  return !signal.aborted;
}

/** Sends a health request.
 *  @returns the HTTP status, or why no response arrived */
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
