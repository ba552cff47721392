import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { freePorts } from '#infra/testing/free-ports.ts';
import { Api } from './api-client.ts';
import { reasonOf, sendRequest } from './http-request.ts';

async function serving(listener: RequestListener) {
  const server = createServer((request, response) => {
    if (request.url !== '/api/v1/foreign') response.setHeader('X-Request-Id', '1');
    listener(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.close().closeAllConnections();
      await once(server, 'close');
    },
  };
}

const never = new AbortController().signal;

test('a request sends a file with its length, and returns the response', async () => {
  await using server = await serving((request, response) => {
    void text(request).then((body) => {
      response.statusCode = 418;
      response.end(`${request.method} ${request.headers['content-length']} ${body}`);
    });
  });
  const body = new Blob(['some ', 'bytes']);
  const call = { method: 'PUT', headers: {}, body, signal: never };
  const answer = await sendRequest(server.url, call);
  expect(answer.statusCode).toBe(418);
  expect(await text(answer)).toBe('PUT 10 some bytes');
});

test('a response that arrives before the whole body is sent is returned', async () => {
  await using server = await serving((_request, response) => {
    response.writeHead(413, { connection: 'close' }).end('too large', () => {
      response.socket?.destroy();
    });
  });
  const body = new Blob([new Uint8Array(32 * 1024 * 1024)]);
  const call = { method: 'POST', headers: {}, body, signal: never };
  const answer = await sendRequest(server.url, call);
  expect([answer.statusCode, await text(answer)]).toEqual([413, 'too large']);
});

test('a signal ends a request without a response, and a response that is still arriving', async () => {
  await using server = await serving((request, response) => {
    if (request.url === '/begins') response.write('a part');
  });
  for (const path of ['/waits', '/begins']) {
    const aborting = new AbortController();
    const call = { method: 'GET', headers: {}, signal: aborting.signal };
    const answered = sendRequest(new URL(path, server.url), call);
    if (path === '/waits') setImmediate(() => aborting.abort());
    const reading = answered.then((answer) => {
      answer.once('data', () => aborting.abort());
      return text(answer);
    });
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    await expect(sendRequest(server.url, call)).rejects.toMatchObject({ name: 'AbortError' });
  }
});

test('the reason for a missing response contains the errors of all addresses', async () => {
  const refused = ['::1', '127.0.0.1'].map((at) => new Error(`connect ECONNREFUSED ${at}:1`));
  expect(reasonOf(new AggregateError(refused))).toBe(
    'connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1',
  );
});

test('a response that breaks off, or that is not from the platform, is an error of the API client', async () => {
  await using server = await serving((request, response) => {
    if (request.url === '/api/v1/html') response.end('<html>');
    else if (request.url === '/api/v1/foreign') response.end('{"items": []}');
    else response.write('{"items":', () => response.socket?.destroy());
  });
  const api = new Api(server.url.origin, 'orch_x');
  await expect(api.call('GET', '/cut')).rejects.toMatchObject({
    status: 503,
    cause: { message: 'aborted' },
  });
  for (const path of ['/html', '/foreign']) {
    await expect(api.call('GET', path)).rejects.toMatchObject({
      status: 503,
      message: `${server.url.origin} did not answer like this platform. Check the address.`,
    });
  }
});

test('an idempotent request is repeated with the same key until there is a response', async () => {
  const keys: unknown[] = [];
  await using server = await serving((request, response) => {
    keys.push(request.headers['idempotency-key']);
    if (keys.length === 1) request.socket.destroy();
    else if (keys.length === 2) response.writeHead(504).end('<html>');
    else response.end('{"id": 1}');
  });
  const api = new Api(server.url.origin, 'orch_x');
  const { body } = await api.call('POST', '/groups', { body: {}, idempotent: true });
  expect(body).toEqual({ id: 1 });
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0], keys[0]]);
});

test('a lost response to a change is an error that the change may be done', async () => {
  await using server = await serving((request, response) => {
    request.resume().on('end', () => {
      if (request.url === '/api/v1/gateway') response.writeHead(504).end();
      else if (request.url === '/api/v1/cut') response.write('{', () => response.destroy());
      else if (request.url === '/api/v1/lost') response.destroy();
    });
  });
  const api = new Api(server.url.origin, 'orch_x');
  for (const path of ['/lost', '/cut', '/gateway', '/waits']) {
    const call = { body: {}, ...(path === '/waits' && { deadlineMs: 500 }) };
    const expected = expect.objectContaining({ mayBeDone: true });
    await expect(api.call('PATCH', path, call), path).rejects.toEqual(expected);
    const unchanged = expect.objectContaining({ mayBeDone: false });
    await expect(api.call('GET', path, call), path).rejects.toEqual(unchanged);
  }
});

test('a change that was not sent is not done', async () => {
  const [port] = await freePorts(1);
  const api = new Api(`http://127.0.0.1:${port}`, 'orch_x');
  const expected = { status: 503, mayBeDone: false };
  await expect(api.call('DELETE', '/groups/1')).rejects.toMatchObject(expected);
  await expect(api.call('POST', '/groups', { body: {} })).rejects.toMatchObject(expected);
});

test('the signal of an API client ends its requests', async () => {
  const interrupted = new AbortController();
  await using server = await serving(() => interrupted.abort());
  const api = new Api(server.url.origin, 'orch_x', { signal: interrupted.signal });
  await expect(api.call('GET', '/runs')).rejects.toMatchObject({ name: 'AbortError' });
});

test('a redirect is refused, and the error contains its target', async () => {
  await using server = await serving((_request, response) => {
    response.writeHead(308, { location: 'https://example.com/' }).end();
  });
  await expect(new Api(server.url.origin, 'orch_x').call('GET', '/runs')).rejects.toMatchObject({
    status: 308,
    message: 'The backend returned 308 with a redirect to https://example.com/.',
  });
});
