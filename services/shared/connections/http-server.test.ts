import { once } from 'node:events';
import { request, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { ConnectionLimits, type LimitOptions } from './connection-limits.ts';
import { createHttpServer, type HttpDeadlines } from './http-server.ts';
import { plainResponse } from './plain-response.ts';

const patient: HttpDeadlines = { headersMs: 60_000, bodyMs: 60_000, idleMs: 60_000 };
const head = 'Host: a\r\nContent-Type: text/plain\r\n';

let server: Server;
let connections: ConnectionLimits;
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

async function start(
  limits: Partial<LimitOptions>,
  deadlines: Partial<HttpDeadlines> = {},
  listener: RequestListener = (_, response) => response.end('done'),
): Promise<void> {
  connections = new ConnectionLimits({
    max: 100,
    maxPerAddress: 100,
    isShared: () => true,
    refusal: plainResponse(503),
    ...limits,
  });
  server = createHttpServer(listener, { connections, deadlines: { ...patient, ...deadlines } });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

/** Connects a client, and resolves when the server has accepted the connection. */
async function client(localAddress = '127.0.0.1'): Promise<Socket> {
  const accepted = once(server, 'connection');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  await Promise.all([accepted, once(socket, 'connect')]);
  return socket;
}

/** Returns the response status of a request on a new connection. */
async function statusOf(): Promise<number | undefined> {
  const { port } = server.address() as AddressInfo;
  const asked = request({ port, host: '127.0.0.1', agent: false }).end();
  const [response] = (await once(asked, 'response')) as [
    NodeJS.ReadableStream & { statusCode: number },
  ];
  response.resume();
  return response.statusCode;
}

function closed(reason: Parameters<ReadonlyMap<string, number>['get']>[0]): number | undefined {
  return (connections.closed as ReadonlyMap<string, number>).get(reason);
}

describe('a server that is closing its connections', () => {
  test('adds the Connection: close header to pending and later responses', async () => {
    const inProgress = Promise.withResolvers<ServerResponse>();
    await start({}, {}, (asked, response) => {
      if (asked.url === '/slow') inProgress.resolve(response);
      else response.end('done');
    });
    const [slow, idle] = [await client(), await client()];
    idle.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [before] = (await once(idle, 'data')) as [Buffer];
    expect(before.toString()).toContain('Connection: keep-alive');
    slow.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    const response = await inProgress.promise;

    connections.closeAfterResponses();
    response.end('done');
    idle.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    for (const answer of await Promise.all([text(slow), text(idle)])) {
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n(.*\r\n)*Connection: close\r\n/);
    }
    // The server still accepts new connections.
    expect(await statusOf()).toBe(200);
  });
});

describe('a server at its limit of connections', () => {
  test('closes the connection that has been idle longest', async () => {
    await start({ max: 2 });
    const first = await client();
    const second = await client();
    const ended = once(first, 'close');
    expect(await statusOf()).toBe(200);
    await ended;
    expect(second.destroyed).toBe(false);
    expect([connections.open <= 2, closed('limit')]).toEqual([true, 1]);
  });

  test('serves requests while many connections are idle', async () => {
    await start({ max: 5 });
    for (let made = 0; made < 20; made += 1) {
      await client();
      expect(await statusOf()).toBe(200);
    }
    expect(connections.open).toBeLessThanOrEqual(5);
  });

  test('closes a connection that has been served rather than one that has not', async () => {
    await start({ max: 2 });
    const served = await client();
    served.write(`GET / HTTP/1.1\r\n${head}\r\n`);
    await once(served, 'data');
    const newer = await client();
    await client();
    await once(served, 'close');
    expect(newer.destroyed).toBe(false);
  });

  test('asks the client of an interrupted request to retry', async () => {
    await start({ max: 1 }, {}, (asked) => asked.resume());
    const slow = await client();
    const heard = once(server, 'request');
    slow.write(`POST / HTTP/1.1\r\n${head}Content-Length: 100\r\n\r\nbegin`);
    await heard;
    const answer = text(slow);
    await client();
    expect(await answer).toMatch(
      /^HTTP\/1\.1 503 [^]*Retry-After: 2\r\n[^]*"too_many_connections"/,
    );
  });

  test('keeps connections with pending responses, and refuses new connections', async () => {
    const responses: ServerResponse[] = [];
    await start({ max: 1 }, {}, (_, response) => responses.push(response));
    const busy: Socket[] = [];
    // To allow health checks, 16 connections from this machine may exceed the limit.
    for (let made = 0; made < 1 + 16; made += 1) {
      const heard = once(server, 'request');
      const one = await client();
      one.write(`GET / HTTP/1.1\r\n${head}\r\n`);
      await heard;
      busy.push(one);
    }
    expect(await text(await client())).toContain('503 Service Unavailable');
    expect([closed('refused'), closed('limit')]).toEqual([1, 0]);
    for (const response of responses) response.end('done');
    const answers = await Promise.all(busy.map((one) => once(one, 'data') as Promise<[Buffer]>));
    expect(answers.every(([bytes]) => bytes.toString().includes('200 OK'))).toBe(true);
  });

  test('closes connections whose clients do not read their responses', async () => {
    const chunk = 'x'.repeat(64 * 1024 * 1024);
    const full = Promise.withResolvers<void>();
    await start({ max: 1 }, {}, (_, response) => {
      while (response.write(chunk));
      full.resolve();
    });
    const stuck = await client();
    stuck.pause().write(`GET / HTTP/1.1\r\n${head}\r\n`);
    await full.promise;
    const ended = once(stuck, 'close');
    // Filling the system's send buffers counts as progress, so the timeout starts only when they are full.
    for (let made = 0; made < 10; made += 1) await client();
    stuck.resume();
    await ended;
  });

  test('does not close an exempt connection', async () => {
    await start({ max: 2 });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const kept = await client();
    const [socket] = await accepted;
    connections.keep(socket);
    const other = await client();
    const ended = once(other, 'close');
    await client();
    await ended;
    expect(kept.destroyed).toBe(false);
  });
});

describe('a server with a limit for each address', () => {
  const perAddress = { max: 100, maxPerAddress: 2, isShared: () => false };

  test('closes an idle connection of the same address to accept a new one', async () => {
    await start(perAddress);
    const [first] = [await client(), await client()];
    const ended = once(first, 'close');
    await client();
    await ended;
    expect([connections.open, closed('address_limit')]).toEqual([2, 1]);
  });

  test('applies only the total limit to addresses that many users share', async () => {
    await start({ ...perAddress, isShared: (address) => address === 'local' });
    for (let made = 0; made < 5; made += 1) await client();
    expect([connections.open, closed('address_limit')]).toEqual([5, 0]);
  });
});

describe('a slow client', () => {
  test.each([
    ['sends nothing', ''],
    ['sends headers byte by byte', `GET / HTTP/1.1\r\n${head}`],
  ])('that %s gets 408', async (_, bytes) => {
    await start({}, { headersMs: 50 });
    const slow = await client();
    if (bytes !== '') slow.write(bytes);
    expect(await text(slow)).toMatch(/^HTTP\/1\.1 408 [^]*"request_timeout"/);
    expect(closed('headers_timeout')).toBe(1);
  });

  test('that sends its body byte by byte gets 408', async () => {
    await start({}, { bodyMs: 100 }, (asked) => asked.resume());
    const slow = await client();
    slow.write(`POST / HTTP/1.1\r\n${head}Content-Length: 100000\r\n\r\n`);
    // The client must have sent everything before the response. Data that arrives after the server has closed the
    // connection resets the connection, and the client would lose the response.
    for (const byte of 'slow') slow.write(byte);
    expect(await text(slow)).toMatch(/^HTTP\/1\.1 408 [^]*"request_timeout"/);
    expect(closed('body_timeout')).toBe(1);
  });

  test('does not time out while the server does not read the request body', async () => {
    const reading = Promise.withResolvers<() => void>();
    await start({}, { bodyMs: 20 }, (asked, response) => {
      reading.resolve(() => asked.resume().once('end', () => response.end('done')));
    });
    const waiting = await client();
    waiting.write(`POST / HTTP/1.1\r\n${head}Content-Length: 100000\r\n\r\nbegin`);
    const resume = await reading.promise;
    const later = setTimeout(() => {
      waiting.write('x'.repeat(100_000 - 'begin'.length));
      resume();
    }, 100);
    const [bytes] = (await once(waiting, 'data')) as [Buffer];
    clearTimeout(later);
    expect(bytes.toString()).toContain('200 OK');
  });

  test('is disconnected if it does not read its response, but not while it waits for a response', async () => {
    const slow = Promise.withResolvers<() => void>();
    await start({}, { unreadMs: 50 }, (asked, response) => {
      if (asked.url === '/slow') slow.resolve(() => response.end('done'));
      else response.end('x'.repeat(64 * 1024 * 1024));
    });
    const waiting = await client();
    waiting.write(`GET /slow HTTP/1.1\r\n${head}\r\n`);
    const finish = await slow.promise;
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const unread = await client();
    const [socket] = await accepted;
    unread.pause().write(`GET / HTTP/1.1\r\n${head}\r\n`);
    await once(socket, 'close');
    expect(closed('response_timeout')).toBe(1);
    finish();
    const [bytes] = (await once(waiting, 'data')) as [Buffer];
    expect(bytes.toString()).toContain('200 OK');
  });

  test('is disconnected if it sends no further request', async () => {
    await start({}, { idleMs: 50 });
    const idle = await client();
    idle.write(`GET / HTTP/1.1\r\n${head}\r\n`);
    expect(await text(idle)).toContain('200 OK');
  });
});

test.each([
  ['GARBAGE\r\n\r\n', '400 Bad Request', 'malformed_request'],
  [`GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, '431', 'headers_too_large'],
])('a request that cannot be parsed gets a problem document', async (bytes, status, code) => {
  await start({});
  const broken = await client();
  broken.write(bytes);
  const answer = await text(broken);
  expect(answer).toContain(status);
  expect(answer).toContain(code);
});
