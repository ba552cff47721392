import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { Entry, Journal } from '../journal.ts';
import { CarefulClient, type Backend } from './careful-client.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Starts a backend that returns the same response to each request. @param status if undefined, the backend closes the
 *  connection instead */
async function backendWith(
  name: string,
  status: number | undefined,
  asked: string[] = [],
): Promise<Backend> {
  const server = createServer((request, response) => {
    asked.push(
      `${name} ${request.method} ${request.url} ${String(request.headers['idempotency-key'])}`,
    );
    if (status === undefined) request.socket.destroy();
    else response.writeHead(status, { connection: 'close' }).end(JSON.stringify({ name }));
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { name, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function notesIn(found: Entry[]): Journal {
  return { note: (entry) => found.push(entry), read: () => [] };
}

describe('a careful client', () => {
  test.each([[503], [500], [429], [undefined]])(
    'retries with the same key at the other backend when one responds with %s',
    async (status) => {
      const asked: string[] = [];
      const backends = [
        await backendWith('good', 200, asked),
        await backendWith('bad', status, asked),
      ];
      const client = new CarefulClient(backends, notesIn([]));
      expect(await client.requestReliably('POST', '/scripts', {}, 'k')).toEqual({ name: 'good' });
      expect(asked).toEqual(['bad POST /api/v1/scripts k', 'good POST /api/v1/scripts k']);
    },
  );

  test('does not retry a refused request', async () => {
    const client = new CarefulClient([await backendWith('one', 422)], notesIn([]));
    await expect(client.requestReliably('POST', '/scripts', {})).rejects.toThrow(
      'POST /scripts: 422',
    );
  });

  test('records a failure of one backend while the other is being replaced', async () => {
    const notes: Entry[] = [];
    const [good, bad] = [await backendWith('good', 200), await backendWith('bad', 503)];
    const client = new CarefulClient([good, bad], notesIn(notes));
    await client.requestReliably('GET', '/runs');
    expect(notes).toEqual([]);
    await client.whileReplacing(bad, async () => {
      await client.requestReliably('GET', '/runs');
    });
    expect(notes).toEqual([]);
    await client.whileReplacing(good, async () => {
      await client.requestReliably('GET', '/runs');
    });
    expect(notes).toEqual([{ what: 'refused', backend: 'bad', request: 'GET /runs', status: 503 }]);
  });
});
