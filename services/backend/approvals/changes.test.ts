import { systemIds } from '#infra/system/ids.ts';
import { expireApprovals } from '#services/scheduler/approvals.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { apiToken, groups, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
let second: TestClient;
let operator: TestClient;
let path: string;
beforeEach(async () => {
  platform = await startTestBackend();
  const groupIds = [groups.custom];
  developer = await someone(platform, { role: 'developer', groupIds });
  second = await someone(platform, { role: 'developer', groupIds });
  operator = await someone(platform, { role: 'operator', groupIds });
  const wanted = { name: 'Payout', group_id: groups.custom, protected: { save: true } };
  path = `/api/v1/scripts/${(await script(platform.admin, wanted)).id}`;
});
afterEach(() => platform.close());

const approval = (id: string, action = '') => `/api/v1/approvals/${id}${action}`;
const main = async () => (await developer.get(`${path}/files/main.py`)).text;

/** Saves `main.py`.
 *  @returns the approval's ID */
async function request(text = 'print(2)\n', by = developer): Promise<string> {
  const saved = await by.putBytes(`${path}/files/main.py`, text);
  expect(saved.status, saved.text).toBe(202);
  return saved.json.id as string;
}

describe('a save of a protected script', () => {
  test('waits for approval by another user, and then takes effect', async () => {
    const before = await main();
    const saved = await developer.putBytes(`${path}/files/main.py`, 'print(2)\n');
    expect([saved.status, saved.json]).toMatchObject([
      202,
      {
        kind: 'save',
        status: 'pending',
        subject: { run_id: null, script_name: 'Payout', script_version: 1 },
        change: { revision: 1, outdated: false },
        can_decide: false,
      },
    ]);
    const { id } = saved.json;
    expect(await main()).toBe(before);
    expect((await developer.post(approval(id, '/approve'))).status).toBe(403);
    expect((await operator.post(approval(id, '/approve'))).status).toBe(403);
    expect((await operator.get(approval(id))).json.can_decide).toBe(false);
    const shown = (await second.get(approval(id, '/diff'))).json;
    expect(shown).toMatchObject({ from: 1, settings: [], items: [{ path: 'main.py' }] });
    expect(shown.items[0].diff).toContain('+print(2)\n');
    expect((await second.get(approval(id, '/files/main.py'))).text).toBe('print(2)\n');
    const approved = await second.post(approval(id, '/approve'), { revision: 1 });
    expect([approved.status, approved.json]).toMatchObject([
      200,
      { status: 'approved', decided_by: expect.stringMatching(/^developer/) },
    ]);
    expect(await main()).toBe('print(2)\n');
    const { items } = (await second.get(`${path}/history`)).json;
    expect(items.map(({ action }: { action: string }) => action)).toEqual([
      'file_saved',
      'script_change_approved',
      'script_change_requested',
      'script_created',
    ]);
  });

  test('is approved once when two users approve it concurrently', async () => {
    const id = await request();
    const both = [second, platform.admin].map((one) => one.post(approval(id, '/approve')));
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await developer.get(path)).json.version).toBe(2);
    expect((await second.post(approval(id, '/approve'))).status).toBe(200);
    const rejected = await second.post(approval(id, '/reject'));
    expect([rejected.status, rejected.json.code]).toEqual([409, 'approval_not_pending']);
  });

  test('joins the pending change of its requester', async () => {
    const id = await request();
    const added = await developer.putBytes(`${path}/files/lib/a.py`, 'a = 1\n');
    expect([added.status, added.json]).toMatchObject([202, { id, change: { revision: 2 } }]);
    expect(await request('print(3)\n')).toBe(id);
    expect(await request('print(3)\n')).toBe(id);
    expect((await developer.delete(`${path}/files/lib/a.py`)).status).toBe(202);
    const moved = await developer.post(`${path}/files/main.py/move`, { to: 'pay.py' });
    expect(moved.status, moved.text).toBe(202);
    const read = await second.post(approval(id, '/approve'), { revision: 1 });
    expect([read.status, read.json.code]).toEqual([412, 'version_mismatch']);
    const { items, settings } = (await second.get(approval(id, '/diff'))).json;
    expect(items).toMatchObject([
      { path: 'main.py', change: 'removed' },
      { path: 'pay.py', change: 'added' },
    ]);
    expect(settings).toEqual([{ name: 'entrypoint', before: 'main.py', after: 'pay.py' }]);
    expect((await second.post(approval(id, '/approve'))).status).toBe(200);
    expect((await developer.get(`${path}/files/pay.py`)).text).toBe('print(3)\n');
  });

  test('cannot be approved after another change to the script, but can be rebased', async () => {
    const id = await request();
    await developer.patch(path, { description: 'Pays.' });
    expect((await developer.get(approval(id))).json.change.outdated).toBe(true);
    const outdated = await second.post(approval(id, '/approve'));
    expect([outdated.status, outdated.json.code]).toEqual([409, 'approval_outdated']);
    const rebased = await developer.post(approval(id, '/rebase'));
    expect([rebased.status, rebased.json]).toMatchObject([
      200,
      { subject: { script_version: 2 }, change: { revision: 2, outdated: false } },
    ]);
    const other = await request('print(4)\n', second);
    expect((await second.post(approval(id, '/approve'))).status).toBe(200);
    const conflict = await second.post(approval(other, '/rebase'));
    expect([conflict.status, conflict.json.code]).toEqual([409, 'approval_outdated']);
    expect((await second.post(approval(other, '/reject'))).json.status).toBe('withdrawn');
  });

  test('can be rejected, can expire, and is withdrawn when its script is deleted', async () => {
    const first = await request();
    expect((await second.post(approval(first, '/reject'))).json.status).toBe('rejected');
    const again = await request();
    const clock = { now: () => new Date(Date.now() + 8 * 24 * 3600_000) };
    const { commands, readModels: reads } = platform.services;
    const expire = () => expireApprovals({ reads, commands, ids: systemIds, clock });
    await Promise.all([expire(), expire()]);
    expect((await developer.get(approval(again))).json.status).toBe('expired');
    const third = await request();
    await developer.delete(path);
    expect((await developer.get(approval(third))).json.status).toBe('withdrawn');
  });

  test('has its content deleted with the script', async () => {
    const id = await request('secret = 1\n');
    await developer.delete(path);
    const file = approval(id, '/files/main.py');
    expect((await second.get(file)).text).toBe('secret = 1\n');
    const key = `scripts/${path.split('/').at(-1)}/`;
    const held = async () => {
      const found: string[] = [];
      for await (const { key: one } of platform.services.objects.list(key)) found.push(one);
      return found;
    };
    expect(await held()).toHaveLength(2);
    const { removeObjects } = await import('#services/scheduler/housekeeping/objects.ts');
    await removeObjects(platform.services.objects, key, new AbortController().signal);
    expect((await second.get(file)).status).toBe(410);
  });
});

describe('a protected script', () => {
  test('cannot be changed by any other operation without approval by another user', async () => {
    const { client: token } = await apiToken(platform.admin, ['scripts:write']);
    expect((await token.putBytes(`${path}/files/main.py`, 'print(9)\n')).status).toBe(202);
    for (const body of [
      { entrypoint: 'other.py' },
      { environment: { A: '1' } },
      { python: '3.12' },
      { group_id: groups.bots },
    ]) {
      expect((await platform.admin.patch(path, body)).status, JSON.stringify(body)).toBe(202);
    }
    expect((await platform.admin.patch(path, { tags: ['x'] })).status).toBe(200);
    expect((await platform.admin.post(`${path}/environment/rebuild`)).status).toBe(202);
    expect((await developer.post(`${path}/files/main.py/move`, { to: 'b.py' })).status).toBe(202);
    expect((await developer.patch(path, { protected: { save: false } })).status).toBe(403);
    expect((await developer.get(path)).json).toMatchObject({ version: 2, entrypoint: 'main.py' });
    expect((await developer.post(`${path}/copy`)).status).toBe(201);
  });

  test('is restored from an earlier version or after deletion only with an approval', async () => {
    const saved = await request();
    await second.post(approval(saved, '/approve'));
    const restored = await developer.post(`${path}/restore`, { version: 1 });
    expect(restored.status, restored.text).toBe(202);
    expect((await second.post(approval(restored.json.id, '/approve'))).status).toBe(200);
    expect(await main()).not.toBe('print(2)\n');
    await developer.delete(path);
    const undeleted = await developer.post(`${path}/undelete`);
    expect(undeleted.status, undeleted.text).toBe(202);
    expect([restored, undeleted].map((one) => one.json.change.restores)).toEqual([false, true]);
    expect((await developer.get(path)).status).toBe(404);
    const { json } = await second.get(approval(undeleted.json.id, '/diff'));
    expect(json.settings).toEqual([{ name: 'deleted', before: true, after: false }]);
    expect(json.items).toContainEqual(
      expect.objectContaining({ path: 'main.py', change: 'added', sha256_before: null }),
    );
    expect((await second.post(approval(undeleted.json.id, '/approve'))).status).toBe(200);
    expect((await developer.get(path)).status).toBe(200);
  });

  test('can be changed with approval by the requester if no other user can approve', async () => {
    const { items } = (await platform.admin.get('/api/v1/users')).json;
    for (const { id, email } of items as { id: string; email: string }[]) {
      if (email.startsWith('developer')) {
        await platform.admin.patch(`/api/v1/users/${id}`, { disabled: true });
      }
    }
    const id = await request('print(5)\n', platform.admin);
    expect((await platform.admin.get(approval(id))).json.can_decide).toBe(true);
    expect((await platform.admin.post(approval(id, '/approve'))).status).toBe(200);
  });
});
