import { once } from 'node:events';
import { createServer as createHttpServer, get, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { freePorts } from '#infra/testing/free-ports.ts';
import { loopbackAddresses } from '#infra/testing/loopback.ts';
import { isNoAddress, listen, stopListening } from './listen.ts';
import { listenAddresses } from './local-address.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

async function answer(host: string, port: number): Promise<IncomingMessage> {
  const [response] = (await once(get({ host, port, agent: false }), 'response')) as [
    IncomingMessage,
  ];
  return response;
}

describe('a server that listens on a loopback address', () => {
  test.each(loopbackAddresses)(
    'responds on every loopback address when bound to %s',
    async (bind) => {
      const server = createHttpServer((_request, response) => response.end());
      ends.push(() => stopListening(server));
      const port = await freePort();
      expect(await listen(server, port, bind)).toBe(port);
      for (const host of loopbackAddresses) {
        const response = await answer(host, port);
        expect([host, response.statusCode]).toEqual([host, 200]);
        response.resume();
      }
    },
  );

  test.each(loopbackAddresses)(
    'completes pending responses on %s when it stops listening',
    async (host) => {
      const asked = Promise.withResolvers<() => void>();
      const server = createHttpServer((_request, response) => {
        response.writeHead(200).write('first');
        asked.resolve(() => response.end('last'));
      });
      const port = await freePort();
      await listen(server, port, '127.0.0.1');
      const response = await answer(host, port);
      const finish = await asked.promise;
      let isStopped = false;
      const stopped = stopListening(server).then(() => (isStopped = true));
      for (const each of loopbackAddresses) {
        await expect(answer(each, port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      }
      expect(isStopped).toBe(false);
      finish();
      expect(Buffer.concat(await response.toArray()).toString()).toBe('firstlast');
      await stopped;
    },
  );

  test.each(loopbackAddresses)('does not start if the port is in use on %s', async (host) => {
    const port = await freePort();
    const other = createServer().listen(port, host);
    await once(other, 'listening');
    ends.push(() => once(other.close(), 'close'));
    const server = createHttpServer();
    await expect(listen(server, port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(server.listening).toBe(false);
  });

  test('ignores addresses that the machine does not have', async () => {
    // This address is reserved for documentation (RFC 5737), so no machine has it.
    const listening = once(createServer().listen(0, '192.0.2.1'), 'listening');
    expect(isNoAddress(await listening.catch((error: unknown) => error))).toBe(true);
  });
});

test.each([
  ['127.0.0.1', ['127.0.0.1', '::1']],
  ['::1', ['::1', '127.0.0.1']],
  ['0.0.0.0', ['0.0.0.0', '::1']],
  // A socket that listens on `::` also accepts IPv4 connections.
  ['::', ['::']],
  ['192.0.2.1', ['192.0.2.1']],
])('a service bound to %s listens on %j', (bind, addresses) => {
  expect(listenAddresses(bind)).toEqual(addresses);
});
