// Long because it has a URL and a body for every operation.
/** Each invalid request gets a documented response, and has no effect except an audit event. */
import { calendarText } from './testing/calendar-text.ts';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formsOf } from './http/operation.ts';
import { operations } from './operations.ts';
import {
  apiToken,
  approval,
  chain,
  channel,
  delivery,
  failWith,
  notice,
  backup,
  notificationRule,
  webhook,
  deeds,
  eventsSince,
  groups,
  identityProvider,
  repository,
  secretStore,
  nowhere,
  refusals,
  run,
  schedule,
  script,
  snapshot,
} from './testing/people.ts';
import { startTestBackend, type TestBackend } from './testing/test-backend.ts';

let platform: TestBackend;
let scriptId: string;
let runId: string;
let approvalId: string;
let tokenId: string;
let scheduleId: string;
let chainId: string;
let notificationId: string;
let channelId: string;
let ruleId: string;
let backupId: string;
let toldId: string;
let deliveryId: string;
let errorGroupId: string;
let userId: string;
let identityProviderId: string;
let secretStoreId: string;
let poolId: string;
let repositoryId: string;
let calendarId: string;
let hook: { readonly id: string; readonly token: string };
beforeAll(async () => {
  platform = await startTestBackend();
  const settings = { group_id: groups.bots, max_concurrent_runs: 9 };
  ({ id: scriptId } = await script(platform.admin, settings));
  runId = await run(platform.admin, scriptId);
  approvalId = await approval(platform.admin, groups.bots);
  scheduleId = await schedule(platform.admin, scriptId);
  ({ id: tokenId } = await apiToken(platform.admin, ['*']));
  notificationId = await notice(platform, scriptId);
  ({ id: userId } = (await platform.admin.get('/api/v1/auth/me')).json as { id: string });
  channelId = await channel(platform.admin);
  ruleId = await notificationRule(platform.admin, channelId);
  secretStoreId = await secretStore(platform.admin);
  identityProviderId = await identityProvider(platform.admin, 'acme');
  repositoryId = await repository(platform.admin);
  const pool = await platform.admin.post('/api/v1/pools', { name: 'crm-api', limit: 3 });
  poolId = pool.json.id;
  const calendar = await platform.admin.post('/api/v1/calendars', {
    name: 'Holidays',
    content: calendarText,
  });
  calendarId = calendar.json.id;
  backupId = await backup(platform);
  toldId = await delivery(platform.admin, channelId);
  hook = await webhook(platform.admin, scriptId);
  const { id: sourceId } = await script(platform.admin, { group_id: groups.bots });
  const called = await platform.anonymous.send('POST', `/hooks/${hook.token}`, 'x');
  deliveryId = called.json.run_id;
  chainId = await chain(platform.admin, sourceId, scriptId);
  const failed = await platform.admin.get(`/api/v1/runs/${await failWith(platform, scriptId)}`);
  errorGroupId = failed.json.error_group_id;
});
afterAll(() => platform.close());

const json = { 'Content-Type': 'application/json' };
/** Identity providers add fields of their own to their requests (RFC 6749 §4.1.2). */
const takesForeignFields = ['finishProviderSignIn', 'endProviderSessions'];
const forms = operations
  .filter((one) => one.path.startsWith('/api/v1/') && !takesForeignFields.includes(one.operationId))
  .flatMap((one) => formsOf(one).map((form) => ({ one, ...form })));
const withBody = forms.filter(({ one }) => one.body !== undefined && one.body.bytesOnly !== true);
const address = (path: string, id = '') =>
  path
    .replace('/groups/{id}', `/groups/${id || groups.bots}`)
    .replace('{run_id}', id || runId)
    .replace('{approval_id}', id || approvalId)
    .replace('{token_id}', id || tokenId)
    .replace('{schedule_id}', id || scheduleId)
    .replace('{webhook_id}', id || hook.id)
    .replace('{chain_id}', id || chainId)
    .replace('{error_group_id}', id || errorGroupId)
    .replace('{runtime_id}', id || 'runtime-1')
    .replace('{notification_id}', id || notificationId)
    .replace('{channel_id}', id || channelId)
    .replace('{rule_id}', id || ruleId)
    .replace('{backup_id}', id || backupId)
    .replace('{notification_delivery_id}', id || toldId)
    .replace('{delivery_id}', id || deliveryId)
    .replace('{user_id}', id || userId)
    .replace('{group_id}', id || groups.bots)
    .replace('{identity_provider_id}', id || identityProviderId)
    .replace('{secret_store_id}', id || secretStoreId)
    .replace('{provider}', id || 'acme')
    .replace('{pool_id}', id || poolId)
    .replace('{repository_id}', id || repositoryId)
    .replace('{passkey_id}', id || nowhere)
    .replace('{calendar_id}', id || calendarId)
    .replace('{session_id}', id || nowhere)
    .replace('{token}', id || hook.token)
    .replace('{id}', id || scriptId)
    .replace('{name}', 'TOKEN')
    .replace('{path}', 'main.py');

/** Sends a request that must be refused, and checks that only the refusal is recorded. */
async function leavesNothing(
  work: () => Promise<{ readonly status: number }>,
  statuses: readonly number[],
): Promise<void> {
  const before = await snapshot(platform);
  const { status } = await work();
  expect(statuses).toContain(status);
  expect(await eventsSince(platform, before)).toEqual({ deeds: 0, refusals: 1 });
}

interface Query {
  readonly properties?: Readonly<Record<string, { format?: string }>>;
}
const withUuids = forms.flatMap(({ one, method, path }) =>
  Object.entries((one.query as Query | undefined)?.properties ?? {})
    .filter(([, { format }]) => format === 'uuid')
    .map(([name]) => ({ method, path, name })),
);

test.each(withUuids)('$method $path refuses $name=x', async ({ method, path, name }) => {
  for (const value of ['x', '', 'null', `${nowhere}0`]) {
    const query = `${name}=${value}`;
    const body = method === 'get' ? undefined : '{}';
    const answer = await platform.admin.send(
      method.toUpperCase(),
      `${address(path)}?${query}`,
      body,
    );
    expect([query, answer.status, answer.json.code]).toEqual([query, 400, 'invalid_parameter']);
  }
});

describe.each(withBody)('$method $path', ({ one, method, path }) => {
  const send = (body: string | Uint8Array, headers: Record<string, string> = json) =>
    platform.admin.send(method.toUpperCase(), address(path), body, { headers });

  test('refuses an unknown field and names it', async () => {
    const example = (one.body?.example ?? {}) as object;
    await leavesNothing(async () => {
      const answer = await send(JSON.stringify({ ...example, colour: 'red' }));
      expect(answer.json.errors[0]).toEqual({ pointer: '/colour', detail: 'is unknown' });
      return answer;
    }, [422]);
    const proto = '{"__proto__": {"admin": true}}';
    await leavesNothing(() => send(proto), [422]);
  });

  test.each([
    ['truncated', '{"name": "x'],
    ['no JSON', 'name=x'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['empty despite a declared length', ' '],
  ])('refuses malformed JSON: %s', async (_name, body) => {
    await leavesNothing(() => send(body), [400]);
  });

  test.each([
    ['a list', '[]'],
    ['a number', '7'],
    ['null', 'null'],
    ['wrong in every field', wrongEverywhere(one.body?.schema)],
    ['deeply nested', `{"params": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('refuses an invalid body: %s', async (_name, body) => {
    await leavesNothing(() => send(body), [422]);
  });

  test('refuses an unsupported content type', async () => {
    if (one.body?.rawMaxBytes !== undefined) return;
    await leavesNothing(() => send('<a/>', { 'Content-Type': 'text/xml' }), [415]);
    await leavesNothing(() => send('{}', { ...json, 'Content-Encoding': 'gzip' }), [415]);
  });

  test('refuses a body over 1 MiB', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(1024 * 1024) });
    await leavesNothing(() => send(body), [413]);
  });
});

const ofBytes = forms.filter(
  ({ one: { body } }) => body?.bytesOnly === true && body.rawMediaTypes?.includes('*/*') !== true,
);
describe.each(ofBytes)('$method $path', ({ method, path }) => {
  test.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded'])(
    'refuses the content type %s',
    async (type) => {
      const headers = { 'Content-Type': type };
      await leavesNothing(
        () => platform.admin.send(method.toUpperCase(), address(path), '{}', { headers }),
        [415],
      );
    },
  );
});

/** An object with an invalid value for each field of the schema. */
function wrongEverywhere(schema: unknown): string {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, unknown> };
  const names = Object.keys(properties);
  return JSON.stringify(
    Object.fromEntries((names[0] ? names : ['x']).map((name) => [name, [[7]]])),
  );
}

describe.each(forms)('$method $path', ({ one, method, path }) => {
  const send = (query: string, id = '') => {
    const body = one.body && JSON.stringify(one.body.example);
    return platform.admin.send(method.toUpperCase(), `${address(path, id)}${query}`, body, {
      headers: body === undefined ? {} : json,
    });
  };
  const isSessionWork = one.tag === 'Authentication';

  test('refuses unknown and repeated parameters', async () => {
    await leavesNothing(() => send('?colour=red'), [400]);
    await leavesNothing(() => send('?limit=1&limit=2'), [400]);
    await leavesNothing(() => send('?__proto__=1'), [400]);
  });

  test.each(['limit=0', 'limit=201', 'limit=x', 'limit=1.5', 'cursor=%00', 'cursor=@@', 'q=%00'])(
    'refuses the parameter %s',
    async (query) => {
      await leavesNothing(() => send(`?${query}`), [400]);
    },
  );

  test.each(['7', 'null', "1' OR '1'='1", '%00', `${nowhere}x`, '%F0%9F%92%A9', nowhere])(
    'finds no resource with the ID %s',
    async (id) => {
      if (Object.keys(one.parameters ?? {}).length === 0 || isSessionWork) return;
      await leavesNothing(() => send('', encodeURIComponent(id).replaceAll('%25', '%')), [404]);
    },
  );
});

describe('fields that the database cannot store', () => {
  test.each([
    ['POST', '/api/v1/scripts', { name: 'a\0b' }],
    ['POST', '/api/v1/scripts', { name: 'half \ud800 a pair' }],
    ['POST', '/api/v1/scripts', { name: 'x', tags: ['\0'] }],
    ['POST', '/api/v1/scripts', { name: 'x', storage_quota_bytes: 1e30 }],
    ['POST', '/api/v1/scripts', { name: 'x', max_concurrent_runs: 1001 }],
    ['POST', '/api/v1/scripts', { name: 'x', entrypoint: '../../etc/passwd' }],
    ['POST', '/api/v1/scripts', { name: '   ' }],
    ['POST', '/api/v1/auth/login', { email: 'a\0@b', password: 'x' }],
    ['POST', '/api/v1/users', { email: 'a b@c', password: 'a good password', role: 'viewer' }],
    ['POST', '/api/v1/users', { email: 'a@b', password: 'a good password', role: 'root' }],
  ])('are refused: %s %s with %j', async (method, path, body) => {
    await leavesNothing(() => platform.admin.sendJson(method, path, body), [422]);
  });

  test('are refused in the parameters of a run', async () => {
    const path = `/api/v1/runs/scripts/${scriptId}/run`;
    for (const params of [{ 'a\0': 1 }, { a: ['\0'] }]) {
      await leavesNothing(() => platform.admin.post(path, { params }), [422]);
    }
  });
});

describe('a path that client libraries never send', () => {
  test.each([
    ['/../../../etc/passwd', 422],
    ['/a/../b', 422],
    ['/./a', 422],
    ['/%2e%2e/%2e%2e/etc', 422],
    ['/..%5c..%5cetc', 422],
    ['/a%00', 422],
    ['/%ff', 400],
  ])('is refused as a file path: %s', async (path, status) => {
    const full = `/api/v1/scripts/${scriptId}/files${path}`;
    const before = await deeds(platform);
    expect(await rawPut(full)).toBe(status);
    expect(await deeds(platform)).toBe(before);
  });

  async function rawPut(path: string): Promise<number | undefined> {
    const headers = { Authorization: `Bearer ${platform.admin.token}`, 'Content-Length': '1' };
    const { port } = new URL(platform.origin);
    const request = httpRequest({ port, host: '127.0.0.1', path, method: 'PUT', headers });
    request.end('x');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await text(response);
    return response.statusCode;
  }
});

describe('refusals in quick succession', () => {
  test('are combined into entries with a count, without loss', async () => {
    const before = total(await refusals(platform));
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(Array.from({ length: 50 }, () => platform.anonymous.get('/api/v1/groups')));
    }
    const after = await refusals(platform);
    expect(total(after) - before).toBe(1000);
    expect(after.filter((one) => one.count > 1).length).toBeGreaterThan(0);
  });

  const total = (all: readonly { readonly count: number }[]) =>
    all.reduce((sum, one) => sum + one.count, 0);
});

test('no request in this file causes an internal error', () => {
  expect(platform.logged.errors).toEqual([]);
});
