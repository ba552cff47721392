import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { loopbackAddresses } from '#infra/testing/loopback.ts';
import { readMinimalConfig } from './config.ts';
import { moveTakenPorts } from './ports.ts';
import { services } from './services.ts';

test('the service uses the queue’s configured port if it is free, or else reports and uses another port', async () => {
  // Occupies the port on only one of the listen addresses. The port must count as in use.
  const address = loopbackAddresses.at(-1);
  const other = createServer().listen(0, address);
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const wanted = readMinimalConfig({ ORCH_REDIS_PORT: String(port) });
  const said: string[] = [];
  const moved = await moveTakenPorts(services, wanted, (line) => said.push(line));
  expect(moved.redisPort).not.toBe(port);
  expect(said).toEqual([
    `Port ${port} on ${address} for the redis is already in use; using port ${moved.redisPort} instead. Set ORCH_REDIS_PORT to choose another.`,
  ]);
  await once(other.close(), 'close');
  expect(await moveTakenPorts(services, wanted, (line) => said.push(line))).toEqual(wanted);
  expect(said).toHaveLength(1);
});
