/** The whole table of rights: every operation of the API, every role, in its own and another group. */
import { roles, type Role } from '#domain/kernel/actor.ts';
import { rights, type Right } from '#domain/kernel/rights.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formsOf, type Operation } from './http/operation.ts';
import { operations } from './operations.ts';
import { groups, nowhere, run, script, someone } from './testing/people.ts';
import { startTestBackend, type TestBackend } from './testing/test-backend.ts';
import type { Answer, TestClient } from './testing/test-client.ts';

let platform: TestBackend;
const people = new Map<string, TestClient>();
beforeAll(async () => {
  platform = await startTestBackend();
  for (const role of roles) {
    people.set(role, await someone(platform, { role, groupIds: [groups.custom] }));
  }
  const auditor = { role: 'viewer', groupIds: [groups.custom], canAudit: true } as const;
  people.set('auditor', await someone(platform, auditor));
});
afterAll(() => platform.close());

const api = operations
  .filter((one) => one.path.startsWith('/api/v1/'))
  .flatMap((one) => formsOf(one).map((form) => ({ one, ...form })));
const guarded = api.filter(({ one }) => one.access !== 'public');
const bodies: Readonly<Record<string, unknown>> = {
  createScript: { name: 'Made' },
  createUser: { email: '', password: 'a good password', role: 'viewer' },
};

let made = 0;

async function call(
  client: TestClient,
  { one, method, path }: { one: Operation; method: string; path: string },
  ids: { readonly scriptId: string; readonly runId: string },
): Promise<Answer> {
  const address = path
    .replace('{run_id}', ids.runId)
    .replace('{id}', ids.scriptId)
    .replace('{name}', 'TOKEN')
    .replace('{path}', 'main.py');
  if (one.operationId === 'purgeScript') {
    await platform.admin.sendJson('DELETE', `/api/v1/scripts/${ids.scriptId}`, undefined);
  }
  const body =
    one.operationId === 'createUser'
      ? { ...(bodies['createUser'] as object), email: `made${(made += 1)}@example.com` }
      : (bodies[one.operationId] ?? one.body?.example);
  return await client.sendJson(method.toUpperCase(), address, one.body && body);
}

function holds(role: string, { access }: Operation): boolean {
  if (access === 'public' || access === 'signed-in') return true;
  if (role === 'auditor') {
    return access.right === 'audit.read' || holds('viewer', { access } as Operation);
  }
  const holders: readonly Role[] = rights[access.right as Right];
  return holders.includes(role as Role);
}

/** A script with a run, in a group. */
async function given(groupId: string): Promise<{ scriptId: string; runId: string }> {
  const { id: scriptId } = await script(platform.admin, {
    group_id: groupId,
    max_concurrent_runs: 9,
  });
  await platform.admin.put(`/api/v1/scripts/${scriptId}/secrets/TOKEN`, { value: 'a value' });
  // A script keeps its last file, so one that is to lose a file has two.
  await platform.admin.putBytes(`/api/v1/scripts/${scriptId}/files/other.py`, 'pass');
  const runId = await run(platform.admin, scriptId);
  await platform.services.objects.put(objectKey.runArtifact(runId, 'main.py'), Buffer.from('kept'));
  return { scriptId, runId };
}

describe.each(guarded)('$method $path', (form) => {
  const isAboutOne = Object.keys(form.one.parameters ?? {}).length > 0;
  const isLogout = form.one.operationId === 'logout';

  test('when nobody is signed in, then the answer is 401', async () => {
    const answer = await call(platform.anonymous, form, { scriptId: nowhere, runId: nowhere });
    expect([answer.status, answer.json.code]).toEqual([401, 'unauthenticated']);
  });

  test.each([...roles, 'auditor'].filter(() => !isLogout))(
    'when a %s asks, then the table of rights decides',
    async (role) => {
      const client = people.get(role) ?? platform.anonymous;
      const own = await call(client, form, await given(groups.custom));
      if (!holds(role, form.one)) {
        expect([own.status, own.json.code]).toEqual([403, 'forbidden']);
        return;
      }
      expect(own.status, own.text).toBeLessThan(300);
      if (!isAboutOne) return;
      const foreign = await call(client, form, await given(groups.bots));
      expect(foreign.status).toBe(role === 'administrator' ? own.status : 404);
      const unknown = await call(client, form, { scriptId: nowhere, runId: nowhere });
      expect(unknown.status).toBe(404);
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
    '/openapi.json',
  ]);
});
