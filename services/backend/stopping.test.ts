import { Agent, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestBackend, type TestBackend } from './testing/test-backend.ts';

let backend: TestBackend;
beforeAll(async () => {
  backend = await startTestBackend();
});
afterAll(async () => {
  await backend.close();
});

/** Sends one request over the agent's connection. @returns status, headers and body */
async function ask(agent: Agent, method: string, path: string) {
  const asked = request(`${backend.origin}${path}`, { agent, method }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const { statusCode, headers } = response;
  return { status: statusCode, headers, body: await json(response), isReused: asked.reusedSocket };
}

test('a stopping backend reports that it is not ready, and closes each connection after its response', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  expect(await ask(agent, 'GET', '/readyz')).toMatchObject({
    status: 200,
    headers: { connection: 'keep-alive' },
  });

  backend.backend.announceStop();

  // The connection was idle when the backend started to stop.
  expect(await ask(agent, 'POST', '/api/v1/auth/login')).toMatchObject({
    status: 415,
    headers: { connection: 'close' },
    isReused: true,
  });
  expect(await ask(agent, 'GET', '/readyz')).toMatchObject({
    status: 503,
    headers: { connection: 'close', 'retry-after': '2' },
    body: { status: 'unavailable', checks: { backend: 'unavailable' } },
    isReused: false,
  });
  expect(await ask(agent, 'GET', '/health')).toMatchObject({
    status: 200,
    headers: { connection: 'close' },
  });
  agent.destroy();
});
