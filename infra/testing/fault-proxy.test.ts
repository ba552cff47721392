import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts';

async function read(socket: Socket, bytes: number): Promise<string> {
  let text = '';
  while (text.length < bytes) {
    const [piece] = (await once(socket, 'data')) as [Buffer];
    text += piece.toString();
  }
  return text;
}

// Resolves when the socket is closed. A reset causes an error first, which is expected.
function closed(socket: Socket): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  socket.on('error', () => undefined).once('close', resolve);
  return promise;
}

describe('a proxy that fails on demand', () => {
  let server: Server;
  let proxy: FaultProxy;
  let client: Socket;

  beforeEach(async () => {
    // Echoes, so that data is sent in both directions.
    server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.pipe(socket);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    proxy = await startFaultProxy({ port: (server.address() as AddressInfo).port });
    client = connect(proxy.port, proxy.host);
    await once(client, 'connect');
  });
  afterEach(async () => {
    client.destroy();
    await proxy.close();
    server.close();
  });

  test('forwards all data and the end of either side if no fault is set', async () => {
    client.write('hello');
    expect(await read(client, 5)).toBe('hello');
    client.end('bye');
    expect(await read(client, 3)).toBe('bye');
    await once(client, 'end');
    expect(proxy.accepted).toBe(1);
  });

  test.each(['request', 'response'] as const)(
    'cuts the connection after some bytes of a %s',
    async (direction) => {
      await proxy.set({ kind: 'cut', direction, afterBytes: 3 });
      const cut = closed(client);
      const pieces: Buffer[] = [];
      client.on('data', (piece: Buffer) => pieces.push(piece));
      client.write('hello');
      await proxy.struck();
      await cut;
      expect('hel').toContain(Buffer.concat(pieces).toString());
    },
  );

  test('cuts the connection once, and forwards all later data', async () => {
    await proxy.set({ kind: 'cut', direction: 'request', afterBytes: 0, once: true });
    const cut = closed(client);
    client.write('hello');
    await cut;
    const next = connect(proxy.port, proxy.host);
    next.write('again');
    expect(await read(next, 5)).toBe('again');
    next.destroy();
  });

  test('holds back data after some bytes until another fault is set', async () => {
    await proxy.set({ kind: 'hang', direction: 'response', afterBytes: 2 });
    client.write('hello');
    expect(await read(client, 2)).toBe('he');
    await proxy.struck();
    await proxy.set({ kind: 'delay', delayMs: 1 });
    expect(await read(client, 3)).toBe('llo');
  });

  test('drops all data without closing the connections', async () => {
    await proxy.set({ kind: 'blackhole' });
    const answers: Buffer[] = [];
    client.on('data', (piece: Buffer) => answers.push(piece));
    await new Promise((resolve) => client.write('lost', resolve));
    const early = connect(proxy.port, proxy.host);
    early.write('lost too');
    await once(early, 'connect');
    await proxy.set({ kind: 'pass' });
    const next = connect(proxy.port, proxy.host);
    next.write('again');
    expect(await read(next, 5)).toBe('again');
    expect(answers).toEqual([]);
    early.destroy();
    next.destroy();
  });

  test('resets and refuses connections, and listens again on the same port', async () => {
    const reset = closed(client);
    await proxy.set({ kind: 'refuse' });
    await reset;
    const refused = connect(proxy.port, proxy.host);
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
    await proxy.set({ kind: 'pass' });
    const next = connect(proxy.port, proxy.host);
    next.write('again');
    expect(await read(next, 5)).toBe('again');
    next.destroy();
  });
});
