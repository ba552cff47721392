/** Follows one log on many sockets: `log-clients.ts <sockets> <url> [protocol …]`. Prints the milliseconds from the
 *  first line that any client receives to the last line at all clients. */
import { performance } from 'node:perf_hooks';
import WebSocket from 'ws';

const [count, url = '', ...protocols] = process.argv.slice(2);
/**
 * Searches only the end of each frame, which contains the last line. Searching whole frames would account for a
 * third of the measured time.
 */
const tailBytes = 1024;
let beganAtMs = 0;

await Promise.all(
  Array.from(
    { length: Number(count) },
    () =>
      new Promise<void>((resolve, reject) => {
        const socket = new WebSocket(url, protocols);
        socket.on('error', reject);
        // Frames are not parsed, because the benchmark does not measure the clients.
        socket.on('message', (data: Buffer) => {
          if (beganAtMs === 0 && data.includes('"begin"')) beganAtMs = performance.now();
          if (data.subarray(-tailBytes).includes('"the end"')) resolve();
        });
      }),
  ),
);
process.stdout.write(`${performance.now() - beganAtMs}\n`, () => process.exit());
