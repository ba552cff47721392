/** The whole table of rights: every operation of the API, every role, in its own and another group. */
import { roles, type Role } from '#domain/kernel/actor.ts';
import { rights, scopes, scopesOf, type Right, type Scope } from '#domain/kernel/rights.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formsOf, type Operation } from './http/operation.ts';
import { operations } from './operations.ts';
import {
  apiToken,
  chain,
  groups,
  nowhere,
  run,
  schedule,
  script,
  someone,
  notice,
  webhook,
} from './testing/people.ts';
import { startTestBackend, type TestBackend } from './testing/test-backend.ts';
import type { Answer, TestClient } from './testing/test-client.ts';

let platform: TestBackend;
const people = new Map<string, TestClient>();
const tokens = new Map<Scope, TestClient>();
beforeAll(async () => {
  platform = await startTestBackend();
  for (const role of roles) {
    people.set(role, await someone(platform, { role, groupIds: [groups.custom] }));
  }
  const auditor = { role: 'viewer', groupIds: [groups.custom], canAudit: true } as const;
  people.set('auditor', await someone(platform, auditor));
  for (const scope of scopes) {
    tokens.set(scope, (await apiToken(platform.admin, [scope], { expires_in_days: null })).client);
  }
});
afterAll(() => platform.close());

const api = operations
  .filter((one) => one.path.startsWith('/api/v1/'))
  .flatMap((one) => formsOf(one).map((form) => ({ one, ...form })));
const guarded = api.filter(({ one }) => one.access !== 'public');
let made = 0;
const bodies: Readonly<Record<string, (client: TestClient, ids: Things) => unknown>> = {
  createScript: () => ({ name: 'Made' }),
  createSchedule: (_client, { scriptId }) => ({ script_id: scriptId, cron: '@daily' }),
  createUser: () => {
    const email = `made${(made += 1)}@example.com`;
    return { email, password: 'a good password', role: 'viewer' };
  },
  createWebhook: (_client, { scriptId }) => ({ script_id: scriptId }),
  createChain: (_client, { scriptId, otherScriptId }) => ({
    source_script_id: otherScriptId,
    target_script_id: scriptId,
  }),
  changePassword: () => ({
    current_password: 'a good password',
    new_password: 'a good password',
  }),
  // Nobody gives a scope that they lack.
  createToken: (client) => ({
    name: 'Made',
    scopes: [client === tokens.get('admin') ? 'admin' : '*'],
  }),
};

interface Things {
  readonly scriptId: string;
  readonly runId: string;
  readonly tokenId: string;
  readonly scheduleId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly chainId: string;
  /** Of the same group. */
  readonly otherScriptId: string;
  readonly notificationId: string;
  readonly userId: string;
  readonly groupId: string;
}

const nothing: Things = {
  scriptId: nowhere,
  runId: nowhere,
  tokenId: nowhere,
  scheduleId: nowhere,
  webhookId: nowhere,
  deliveryId: nowhere,
  chainId: nowhere,
  otherScriptId: nowhere,
  notificationId: nowhere,
  userId: nowhere,
  groupId: nowhere,
};

async function call(
  client: TestClient,
  { one, method, path }: { one: Operation; method: string; path: string },
  ids: Things,
): Promise<Answer> {
  const address = path
    .replace('{run_id}', ids.runId)
    .replace('{token_id}', ids.tokenId)
    .replace('{schedule_id}', ids.scheduleId)
    .replace('{webhook_id}', ids.webhookId)
    .replace('{delivery_id}', ids.deliveryId)
    .replace('{chain_id}', ids.chainId)
    .replace('{notification_id}', ids.notificationId)
    .replace('{user_id}', ids.userId)
    .replace('{group_id}', ids.groupId)
    .replace('{session_id}', nowhere)
    .replace('{id}', ids.scriptId)
    .replace('{name}', 'TOKEN')
    .replace('{path}', 'main.py');
  if (one.operationId === 'purgeScript') {
    await platform.admin.sendJson('DELETE', `/api/v1/scripts/${ids.scriptId}`, undefined);
  }
  const body = bodies[one.operationId]?.(client, ids) ?? one.body?.example;
  return await client.sendJson(method.toUpperCase(), address, one.body && body);
}

/** Whether an API token of an administrator lets in. */
function gives(scope: Scope, { access }: Operation): boolean {
  if (typeof access === 'string') return access !== 'session';
  const givers: readonly Scope[] = scopesOf[access.right as Right];
  return givers.includes(scope);
}

function holds(role: string, { access }: Operation): boolean {
  if (typeof access === 'string') return true;
  if (role === 'auditor') {
    return access.right === 'audit.read' || holds('viewer', { access } as Operation);
  }
  const holders: readonly Role[] = rights[access.right as Right];
  return holders.includes(role as Role);
}

/** A script with a run, in a group, and an API token of somebody. */
async function given(groupId: string, owner: TestClient): Promise<Things> {
  const { id: scriptId } = await script(platform.admin, {
    group_id: groupId,
    max_concurrent_runs: 9,
  });
  await platform.admin.put(`/api/v1/scripts/${scriptId}/secrets/TOKEN`, { value: 'a value' });
  // A script keeps its last file, so one that is to lose a file has two.
  await platform.admin.putBytes(`/api/v1/scripts/${scriptId}/files/other.py`, 'pass');
  const runId = await run(platform.admin, scriptId);
  await platform.services.objects.put(objectKey.runArtifact(runId, 'main.py'), Buffer.from('kept'));
  const { id: tokenId } = await apiToken(owner, ['*']);
  const scheduleId = await schedule(platform.admin, scriptId);
  const { id: webhookId, token } = await webhook(platform.admin, scriptId);
  const called = await platform.anonymous.send('POST', `/hooks/${token}`, 'x');
  const { run_id: deliveryId } = called.json;
  const { id: otherScriptId } = await script(platform.admin, { group_id: groupId });
  const { id: sourceId } = await script(platform.admin, { group_id: groupId });
  const chainId = await chain(platform.admin, sourceId, scriptId);
  const notificationId = await notice(platform, scriptId);
  const person = await platform.admin.post('/api/v1/users', bodies['createUser']?.(owner, nothing));
  const group = await platform.admin.post('/api/v1/groups', { name: 'Made' });
  const [userId, madeGroup] = [person.json.id as string, group.json.id as string];
  const others = { chainId, otherScriptId, notificationId, userId, groupId: madeGroup };
  return { scriptId, runId, tokenId, scheduleId, webhookId, deliveryId, ...others };
}

describe.each(guarded)('$method $path', (form) => {
  const isAboutOne = Object.keys(form.one.parameters ?? {}).length > 0;
  // These end a session, and have tests of their own.
  const isLogout = ['logout', 'revokeSession'].includes(form.one.operationId);

  test('when nobody is signed in, then the answer is 401', async () => {
    const answer = await call(platform.anonymous, form, nothing);
    expect([answer.status, answer.json.code]).toEqual([401, 'unauthenticated']);
  });

  test.each([...roles, 'auditor'].filter(() => !isLogout))(
    'when a %s asks, then the table of rights decides',
    async (role) => {
      const client = people.get(role) ?? platform.anonymous;
      const own = await call(client, form, await given(groups.custom, client));
      if (!holds(role, form.one)) {
        expect([own.status, own.json.code]).toEqual([403, 'forbidden']);
        return;
      }
      expect(own.status, own.text).toBeLessThan(300);
      if (!isAboutOne) return;
      const foreign = await call(client, form, await given(groups.bots, platform.admin));
      expect(foreign.status).toBe(role === 'administrator' ? own.status : 404);
      const unknown = await call(client, form, nothing);
      expect(unknown.status).toBe(404);
    },
  );

  test.each(scopes)(
    'when a token with the scope %s asks, then its scopes decide',
    async (scope) => {
      const client = tokens.get(scope) ?? platform.anonymous;
      const isLet = gives(scope, form.one);
      const things = isLet ? await given(groups.custom, platform.admin) : nothing;
      const answer = await call(client, form, things);
      if (isLet) expect(answer.status, answer.text).toBeLessThan(300);
      else expect([answer.status, answer.json.code]).toEqual([403, 'forbidden']);
    },
  );
});

test('when an operation is public, then it is one of the few that are meant to be', () => {
  const open = operations.filter((one) => one.access === 'public').map((one) => one.path);
  expect(open).toEqual([
    '/api/v1/auth/login',
    '/api/v1/auth/refresh',
    '/health',
    '/livez',
    '/readyz',
    '/metrics',
    '/api/v1/hooks/{token}',
    '/sdk/simple/',
    '/sdk/simple/orchestrator/',
    '/sdk/{file}',
    '/openapi.json',
  ]);
});
