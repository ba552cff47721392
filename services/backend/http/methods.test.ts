/** Checks unsupported methods on each path of the API description. */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { description } from '../testing/described.ts';
import { script } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

const all = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY'];
const templates = Object.entries({ ...description.paths, ...description['x-websockets'] });

/** The methods that the API description declares for a URL. A path that ends in a file path matches several
 *  templates. */
function declaredAt(template: string): readonly string[] {
  const broader = template.replace(/\{path\}\/.+/, '{path}');
  const methods = templates
    .filter(([path]) => path === template || path === broader)
    .flatMap(([, operations]) => Object.keys(operations))
    .map((method) => method.toUpperCase());
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** Sends a request without a token. Also sends methods that `fetch` refuses. */
async function send(method: string, path: string, headers = {}) {
  const { port } = new URL(platform.origin);
  const request = httpRequest({ host: '127.0.0.1', port, method, path, headers });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}

describe.each(templates)('%s', (template) => {
  const declared = declaredAt(template);
  const path = template.replaceAll(/\{\w+\}/g, 'x');

  test('returns 405 for other methods, and lists the allowed methods', async () => {
    for (const method of all.filter((one) => !declared.includes(one))) {
      const answer = await send(method, path);
      const allowed = answer.headers.allow?.split(', ') ?? [];
      expect([method, answer.status]).toEqual([method, 405]);
      expect(allowed.toSorted()).toEqual(declared.toSorted());
      const body = method === 'HEAD' ? '' : expect.stringContaining('"method_not_allowed"');
      expect(answer.text).toEqual(body);
    }
  });

  test('does not return 405 for its own methods', async () => {
    for (const method of declared) expect((await send(method, path)).status).not.toBe(405);
  });
});

describe('HEAD', () => {
  test('returns the headers of GET without the body', async () => {
    const headers = { Authorization: `Bearer ${platform.admin.token}` };
    for (const path of ['/api/v1/groups', '/health', '/openapi.json']) {
      const [get, head] = [await send('GET', path, headers), await send('HEAD', path, headers)];
      expect([head.status, head.text]).toEqual([200, '']);
      expect(head.headers['content-type']).toBe(get.headers['content-type']);
      expect(head.headers['content-length']).toBe(get.headers['content-length']);
    }
  });
});

describe('the path of a WebSocket', () => {
  test.each(['/ws', '/ws/runs/01900000-0000-7000-8000-000000000004', '/ws?token='])(
    'returns 426 for an ordinary GET of %s',
    async (path) => {
      const answer = await send('GET', path);
      expect([answer.status, answer.headers.upgrade]).toEqual([426, 'websocket']);
      expect(JSON.parse(answer.text)).toMatchObject({ code: 'upgrade_required' });
    },
  );
});

describe('a file named like an operation', () => {
  test('can be saved, read and moved', async () => {
    const { id } = await script(platform.admin);
    const path = `/api/v1/scripts/${id}/files/tools/move`;
    expect((await platform.admin.putBytes(path, 'pass')).status).toBe(200);
    expect((await platform.admin.get(path)).text).toBe('pass');
    const moved = await platform.admin.post(`${path}/move`, { to: 'other.py' });
    expect(moved.status, moved.text).toBe(200);
  });
});
