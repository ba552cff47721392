import { mustParse, parseGroupId, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import { Projector } from '#infra/postgres/readers/projector.ts';
import { eventsVisible } from '#infra/testing/platform.ts';
import { tablesWith } from '#infra/testing/stored-text.ts';
import { asyncProjections } from '#projections/registry.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asRuntime, nowhere, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

const canary = 'canary-2b8d40e6f1';
const run = '019aa3f4-01aa-7c11-8d22-5e6f70819203';
let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

async function newGroup(name: string): Promise<string> {
  const { json } = await platform.admin.post('/api/v1/groups', { name });
  return json.id;
}

const at = (groupId: string, name = '') => `/api/v1/groups/${groupId}/secrets${name && `/${name}`}`;

async function hasKey(groupId: string): Promise<boolean> {
  const found = 'SELECT FROM data_keys WHERE script_id = $1';
  return (await platform.pool.query(found, [groupId])).rowCount === 1;
}

test('a group secret is listed with its settings, and its value is not stored in plain text in any table', async () => {
  const groupId = await newGroup('settings');
  const body = { value: canary, as_environment: true, rotate_after_days: 30 };
  const { status, json: secret } = await platform.admin.put(at(groupId, 'TOKEN'), body);
  expect(status).toBe(200);
  expect(secret).toMatchObject({
    name: 'TOKEN',
    version: 1,
    as_environment: true,
    rotate_after_days: 30,
    used_by: [],
  });
  const days = (Date.parse(secret.rotation_due_at) - Date.parse(secret.updated_at)) / 86_400_000;
  expect(days).toBe(30);
  const again = await platform.admin.put(at(groupId, 'TOKEN'), { value: 'another' });
  expect(again.json).toMatchObject({ version: 2, as_environment: true, rotate_after_days: 30 });
  const { json } = await platform.admin.get(at(groupId));
  expect(json.items).toEqual([again.json]);
  expect(await tablesWith(platform.pool, [canary])).toEqual([]);
});

test('a group secret shows the scripts that received its value', async () => {
  const groupId = await newGroup('users');
  await platform.admin.put(at(groupId, 'TOKEN'), { value: canary });
  const { id } = await script(platform.admin, { group_id: groupId });
  const named = { name: 'TOKEN', version: 1, groupId: mustParse(parseGroupId, groupId) };
  await asRuntime(platform, {
    type: 'ReadSecrets',
    runId: mustParse(parseRunId, run),
    scriptId: mustParse(parseScriptId, id),
    secrets: [named],
  });
  await eventsVisible(platform.pool);
  await new Projector(platform.pool, asyncProjections).runOnce(new AbortController().signal);
  const usersOf = async () => (await platform.admin.get(at(groupId))).json.items[0].used_by;
  expect(await usersOf()).toEqual([
    { script_id: id, run_id: run, last_used_at: expect.any(String) },
  ]);
  const own = await platform.admin.get(`/api/v1/scripts/${id}/secrets`);
  expect(own.json.items).toEqual([]);
  await platform.admin.patch(`/api/v1/scripts/${id}`, { group_id: await newGroup('other') });
  expect(await usersOf()).toEqual([]);
});

test('a developer can manage only the secrets of their own groups', async () => {
  const [own, other] = [await newGroup('own'), await newGroup('foreign')];
  const developer = await someone(platform, { role: 'developer', groupIds: [own] });
  expect((await developer.put(at(own, 'TOKEN'), { value: canary })).status).toBe(200);
  for (const groupId of [other, nowhere]) {
    expect((await developer.get(at(groupId))).status).toBe(404);
    expect((await developer.put(at(groupId, 'TOKEN'), { value: canary })).status).toBe(404);
    expect((await developer.delete(at(groupId, 'TOKEN'))).status).toBe(404);
  }
  expect((await developer.delete(at(own, 'TOKEN'))).status).toBe(204);
  expect((await developer.delete(at(own, 'TOKEN'))).status).toBe(404);
});

test('deleting the last secret destroys the key of the group', async () => {
  const groupId = await newGroup('keys');
  await platform.admin.put(at(groupId, 'ONE'), { value: canary });
  await platform.admin.put(at(groupId, 'TWO'), { value: canary });
  await platform.admin.delete(at(groupId, 'ONE'));
  expect(await hasKey(groupId)).toBe(true);
  await platform.admin.delete(at(groupId, 'TWO'));
  expect(await hasKey(groupId)).toBe(false);
});

test('the cleanup of a previous release keeps keys of unknown owners', async () => {
  const groupId = await newGroup('rolling update');
  await platform.admin.put(at(groupId, 'TOKEN'), { value: canary });
  await platform.pool.query(
    `DELETE FROM data_keys k WHERE script_id = $1 AND NOT EXISTS (
       SELECT FROM secrets s WHERE s.script_id = k.script_id AND s.sealed IS NOT NULL)`,
    [groupId],
  );
  expect(await hasKey(groupId)).toBe(true);
});

test('deleting a group destroys the key of its secrets', async () => {
  const groupId = await newGroup('short-lived');
  await platform.admin.put(at(groupId, 'TOKEN'), { value: canary });
  expect(await hasKey(groupId)).toBe(true);
  expect((await platform.admin.delete(`/api/v1/groups/${groupId}`)).status).toBe(204);
  expect(await hasKey(groupId)).toBe(false);
});

test.each([
  ['PATH', { as_environment: true }],
  ['TOKEN', { rotate_after_days: 0 }],
  ['TOKEN', { rotate_after_days: 5_000 }],
])('the secret %s with %j is refused', async (name, more) => {
  const groupId = await newGroup(`refused ${name} ${JSON.stringify(more)}`);
  const { status } = await platform.admin.put(at(groupId, name), { value: canary, ...more });
  expect(status).toBe(422);
});
