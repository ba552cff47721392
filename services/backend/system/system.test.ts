import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ObjectStoreUnavailable } from '#domain/ports/objects.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiDescription } from '../operations.ts';
import { groups, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
let dashboardDir: string;
beforeAll(async () => {
  dashboardDir = await mkdtemp(join(tmpdir(), 'orch-dashboard-'));
  platform = await startTestBackend({ dashboardDir });
});
afterAll(async () => {
  await platform.close();
  await rm(dashboardDir, { recursive: true });
});

describe('a healthy backend', () => {
  test('reports its health without a token', async () => {
    for (const path of ['/health', '/livez']) {
      const answer = await platform.anonymous.get(path);
      expect([answer.status, answer.json]).toEqual([200, { status: 'ok' }]);
    }
    const ready = await platform.anonymous.get('/readyz');
    expect(ready.json).toEqual({
      status: 'ok',
      checks: { database: 'ok', objects: 'ok', bus: 'ok' },
    });
  });

  test('lists its settings for administrators only', async () => {
    const path = '/api/v1/system/settings';
    const { json } = await platform.admin.get(path);
    expect(json.documented_in).toBe('docs/settings.md');
    expect(json.items).toContainEqual({
      name: 'ORCH_HTTP_PORT',
      value: '8080',
      secret: false,
      source: 'default',
      expected: 'a whole number from 1 to 65535',
    });
    const developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
    expect((await developer.get(path)).status).toBe(403);
  });

  test('labels its metrics with route templates', async () => {
    const id = '01900000-0000-7000-8000-000000000004';
    await platform.admin.get(`/api/v1/runs/${id}`);
    const figures = async () => (await platform.anonymous.get('/metrics')).text;
    // A request is counted once its connection has sent the response.
    await expect.poll(figures).toContain('route="/api/v1/runs/{run_id}",status="404"');
    const text = await figures();
    // Searches for the whole ID, because a number in the metrics could match a part of the ID.
    expect(text).not.toContain(id);
  });

  test('reports its version', async () => {
    const answer = await platform.admin.get('/api/v1/system/info');
    expect(answer.json).toMatchObject({ version: '0.1.13', edition: 'minimal' });
    expect(answer.json.event_position).toBeGreaterThan(4);
    expect(answer.json.services[0].name).toBe('backend');
  });

  test('isolates artifact previews from the dashboard', async () => {
    const { headers, text } = await platform.anonymous.get('/preview-frame');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("sandbox allow-scripts; default-src 'none'");
    expect(policy).not.toContain('allow-same-origin');
    expect(policy).toContain("frame-ancestors 'self'");
    expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
    const [, script = ''] = /<script>([^]*)<\/script>/.exec(text) ?? [];
    const hash = createHash('sha256').update(script).digest('base64');
    expect(policy).toContain(`script-src 'sha256-${hash}';`);
  });

  test('sets the security headers on each response', async () => {
    const { headers } = await platform.anonymous.get('/health');
    expect(headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-powered-by')).toBeNull();
    const foreign = await platform.admin
      .with({ Origin: 'https://evil.example' })
      .get('/api/v1/scripts');
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
    const secure = await platform.anonymous.with({ 'X-Forwarded-Proto': 'https' }).get('/health');
    expect(secure.headers.get('strict-transport-security')).toBe('max-age=31536000');
  });
});

describe('the API description', () => {
  test('matches docs/openapi.json', async () => {
    const served = await platform.anonymous.get('/openapi.json');
    expect(served.text).toBe(apiDescription());
    const file = new URL('../../../docs/openapi.json', import.meta.url);
    expect(readFileSync(file, 'utf8'), 'run node services/backend/write-openapi.ts').toBe(
      served.text,
    );
  });

  test('loads nothing from other hosts', async () => {
    const page = await platform.anonymous.get('/docs');
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.text).not.toMatch(/https?:\/\/|<script>/);
    for (const [, asset = ''] of page.text.matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect((await platform.anonymous.get(asset)).status).toBe(200);
    }
    expect((await platform.anonymous.get('/docs/package.json')).status).toBe(404);
  });
});

describe('unknown URLs', () => {
  test("under the API's path require a token", async () => {
    const unknown = await platform.anonymous.get('/api/v1/nothing');
    expect([unknown.status, unknown.json.code]).toEqual([401, 'unauthenticated']);
    expect((await platform.admin.get('/api/v1/nothing')).json.code).toBe('not_found');
  });

  test('that resemble public URLs are not public', async () => {
    for (const path of [
      '/api/v1/scripts/health',
      '/api/v1/scripts?/health',
      '/api/v1/users/docs',
      '/api/v1/auth/login/',
    ]) {
      expect((await platform.anonymous.get(path)).status).toBe(401);
    }
  });

  test.each([
    '/metrics/',
    '/Metrics',
    '//metrics',
    '/metrics//',
    '/%6detrics',
    '/metrics%2f',
    '/metrics%00',
    '/metrics;a',
    '/metrics.json',
    '/health/',
    '/openapi.json/',
    '/sdk//simple',
  ])('are not found: %s', async (path) => {
    expect((await platform.anonymous.get(path)).status).toBe(404);
  });
});

const html = { headers: { Accept: 'text/html' } };

describe('a missing dashboard build', () => {
  test('returns 503 with build instructions', async () => {
    const answer = await platform.anonymous.get('/', html);
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('make install')]);
  });
});

describe('the dashboard', () => {
  test('serves its page at each page URL', async () => {
    await mkdir(join(dashboardDir, '_app/immutable'), { recursive: true });
    await writeFile(join(dashboardDir, 'index.html'), '<p>the dashboard</p>');
    await writeFile(join(dashboardDir, '_app/immutable/a.js'), 'export {}');
    for (const path of ['/', '/scripts/some-id', '/runs']) {
      expect((await platform.anonymous.get(path, html)).text).toBe('<p>the dashboard</p>');
    }
    const asset = await platform.anonymous.get('/_app/immutable/a.js');
    expect(asset.headers.get('cache-control')).toContain('immutable');
    expect((await platform.anonymous.get('/_app/immutable/b.js')).status).toBe(404);
    expect((await platform.anonymous.get('/api/nothing', html)).status).toBe(401);
    expect((await platform.anonymous.get('/..%2f..%2fetc/passwd')).status).toBe(404);
  });
});

describe('an unavailable dependency', () => {
  test('is reported, but does not affect readiness, if it is the bus', async () => {
    const own = await startTestBackend();
    Object.assign(own.services.bus, { problem: 'NATS cannot be reached' });
    const ready = await own.anonymous.get('/readyz');
    expect([ready.status, ready.json]).toEqual([
      200,
      { status: 'degraded', checks: { database: 'ok', objects: 'ok', bus: 'degraded' } },
    ]);
    await own.close();
  });

  test('causes 503 for requests that need it', async () => {
    const down = () => Promise.reject(new ObjectStoreUnavailable('away'));
    const own = await startTestBackend();
    Object.assign(own.services.objects, { head: down, putStream: down });
    const created = await own.admin.post('/api/v1/scripts', { name: 'X' });
    expect([created.status, created.json.code]).toEqual([503, 'unavailable']);
    expect(created.headers.get('retry-after')).toBe('2');
    const ready = await own.anonymous.get('/readyz');
    expect([ready.status, ready.json.checks.objects]).toEqual([503, 'unavailable']);
    expect((await own.anonymous.get('/health')).status).toBe(200);
    await own.pool.end();
    const answer = await own.admin.get('/api/v1/scripts');
    expect([answer.status, answer.json.code]).toEqual([503, 'unavailable']);
    expect(answer.text).not.toContain('pool');
    await own.close().catch(() => undefined);
  });
});
