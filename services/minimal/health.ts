/** Asks a service how it is. */
import { get } from 'node:http';

const PATIENCE_MS = 2_000;

/** Whether the address answers 200. */
export function isHealthy(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: PATIENCE_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}
