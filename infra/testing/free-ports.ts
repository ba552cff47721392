import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The ports are below the system's ephemeral ports. Otherwise, a client connection could take a port before the test
 *  uses it. Even the connection that checks whether the port is free could do so. */
const lowest = 15_000;
/** Each process of a test run has its own range of ports. */
const perProcess = 1000;
const first = lowest + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 16) * perProcess;
let next = randomInt(perProcess);

/** Returns distinct ports that are currently free. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    next = (next + 1) % perProcess;
    const server = createServer().listen(first + next, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    await once(server.close(), 'close');
    ports.push(first + next);
  }
  return ports;
}
