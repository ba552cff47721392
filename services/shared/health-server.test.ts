import { afterEach, describe, expect, test } from 'vitest';
import { startHealthServer, type HealthServer, type HealthServerOptions } from './health-server.ts';

let server: HealthServer;
afterEach(() => server.close());

async function start(options: Partial<HealthServerOptions>): Promise<string> {
  server = await startHealthServer({ host: '127.0.0.1', port: 0, ...options });
  return `http://127.0.0.1:${server.port}`;
}

describe('a health server', () => {
  test('returns the service name if the service is healthy', async () => {
    const address = await start({ name: 'runtime' });
    const response = await fetch(`${address}/health?now`);
    expect([response.status, await response.text()]).toEqual([200, 'runtime']);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  test('reports degraded functions', async () => {
    const address = await start({ name: 'runtime', degraded: () => 'the bus is down' });
    const response = await fetch(`${address}/health`);
    expect([response.status, await response.text()]).toEqual([200, 'runtime\nthe bus is down']);
  });

  test.each([
    ['a problem', () => 'the database is down', 'the database is down'],
    ['an error', () => Promise.reject(new Error('secret')), 'unavailable'],
  ])('returns 503 for %s', async (_, problem, body) => {
    const address = await start({ name: 'runtime', problem });
    const response = await fetch(`${address}/health`);
    expect([response.status, await response.text()]).toEqual([503, body]);
  });

  test('responds to /livez while the database is down', async () => {
    const address = await start({ name: 'runtime', problem: () => 'the database is down' });
    const response = await fetch(`${address}/livez`);
    expect([response.status, await response.text()]).toEqual([200, 'runtime']);
  });

  test('has no health page if it serves only metrics', async () => {
    const metrics = { contentType: 'text/plain; version=0.0.4', metrics: async () => 'up 1\n' };
    const address = await start({ metrics });
    const response = await fetch(`${address}/metrics`);
    expect([response.status, await response.text()]).toEqual([200, 'up 1\n']);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4');
    expect((await fetch(`${address}/health`)).status).toBe(404);
  });

  test('refuses all other requests', async () => {
    const address = await start({ name: 'runtime' });
    expect((await fetch(`${address}/`)).status).toBe(404);
    expect((await fetch(`${address}/health`, { method: 'POST' })).status).toBe(405);
  });

  test('does not start if the port is in use', async () => {
    await start({ name: 'runtime' });
    await expect(
      startHealthServer({ host: '127.0.0.1', port: server.port, name: 'other' }),
    ).rejects.toThrow(/EADDRINUSE/);
  });
});
