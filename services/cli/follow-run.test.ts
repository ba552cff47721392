import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import type { LogItem } from './answers.ts';
import { followRun } from './follow-run.ts';

let server: WebSocketServer;
let url: string;
beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  for (const client of server.clients) client.terminate();
  await new Promise((resolve) => server.close(resolve));
});

const item = (seq: number, to?: number): LogItem => ({
  seq,
  ...(to !== undefined && { to_seq: to }),
  time: '2026-11-21T02:31:00.000Z',
  stream: 'stdout',
  level: null,
  text: `line ${seq}`,
});
const log = (...items: LogItem[]) => JSON.stringify({ type: 'log', items });

/** Follows a run on a simulated server.
 *  @param connections the server's actions for each connection
 *  @returns the lines, the requested positions, and the number of broken connections */
async function follow(connections: readonly ((socket: WebSocket) => void)[]) {
  const asked: string[] = [];
  const seen: number[] = [];
  let breaks = 0;
  server.on('connection', (socket, request) => {
    asked.push(request.url ?? '');
    connections[asked.length - 1]?.(socket);
  });
  const following = followRun({
    session: { url, token: 'orch_x' },
    runId: 'run',
    fromSeq: 1,
    signal: new AbortController().signal,
    onBreak: () => (breaks += 1),
    onItems: (items) => {
      seen.push(...items.map(({ seq }) => seq));
      return Promise.resolve();
    },
  });
  await following;
  return { asked, seen, breaks };
}

test('a followed log resumes after the last line without duplicates when the connection breaks', async () => {
  const { asked, seen, breaks } = await follow([
    (socket) => socket.send(log(item(1), item(2, 9)), () => socket.terminate()),
    (socket) => {
      socket.send(log(item(9), item(10), item(11)));
      socket.send(JSON.stringify({ type: 'end', status: 'success' }));
      socket.close(1000);
    },
  ]);
  expect(seen).toEqual([1, 2, 10, 11]);
  expect(asked).toEqual(['/ws/runs/run?from_seq=1', '/ws/runs/run?from_seq=10']);
  expect(breaks).toBe(1);
});

test.each([
  [4401, 401],
  [4403, 403],
  [4404, 404],
])('a followed log does not reconnect after close code %s', async (code, status) => {
  await expect(follow([(socket) => socket.close(code)])).rejects.toMatchObject({ status });
});
