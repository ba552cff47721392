import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groups, run, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  const groupIds = [groups.custom, groups.bots];
  developer = await someone(platform, { role: 'developer', groupIds });
});
afterAll(() => platform.close());

const path = (id: string, more = '') => `/api/v1/scripts/${id}${more}`;

describe('a script with files, settings and history', () => {
  let id: string;
  beforeAll(async () => {
    const settings = { limits: { open_files: 99 }, tags: ['a'], max_concurrent_runs: 3 };
    ({ id } = await script(developer, { name: 'Source', description: 'About.', ...settings }));
    await developer.putBytes(path(id, '/files/lib/a.txt'), 'the content');
    await developer.putBytes(path(id, '/files/gone.txt'), 'gone');
    await developer.delete(path(id, '/files/gone.txt'));
    await developer.post(path(id, '/disable'));
  });

  test('is copied with its files and settings', async () => {
    const copied = await developer.post(path(id, '/copy'));
    expect(copied.status).toBe(201);
    expect(copied.json).toMatchObject({
      name: 'Source (copy)',
      description: 'About.',
      group: 'custom',
      enabled: true,
      version: 1,
      limits: { open_files: 99 },
      tags: ['a'],
      max_concurrent_runs: 3,
    });
    const copyId = copied.json.id as string;
    expect(copied.headers.get('location')).toBe(path(copyId));
    await developer.putBytes(path(id, '/files/lib/a.txt'), 'changed');
    expect((await developer.get(path(copyId, '/files/lib/a.txt'))).text).toBe('the content');
    const { items } = (await developer.get(path(copyId, '/files'))).json;
    expect(items.map((one: { path: string }) => one.path)).toEqual(['lib/a.txt', 'main.py']);
  });

  test('is copied with a given name to a given group', async () => {
    const body = { name: 'Other', group_id: groups.bots };
    const copied = await developer.post(path(id, '/copy'), body);
    expect(copied.json).toMatchObject({ name: 'Other', group: 'bots' });
    const foreign = await developer.post(path(id, '/copy'), { group_id: groups.monitoring });
    expect([foreign.status, foreign.json.errors[0].pointer]).toEqual([422, '/group_id']);
  });

  test('is copied only once if an idempotency key is repeated', async () => {
    const key = { headers: { 'Idempotency-Key': 'copy-once' } };
    const first = await developer.post(path(id, '/copy'), {}, key);
    const second = await developer.post(path(id, '/copy'), {}, key);
    expect(second.text).toBe(first.text);
  });
});

describe('a deleted script', () => {
  let id: string;
  let runId: string;
  beforeAll(async () => {
    ({ id } = await script(developer));
    runId = await run(developer, id);
    await developer.delete(path(id));
  });

  test('keeps its runs', async () => {
    expect((await developer.get(path(id))).status).toBe(404);
    expect((await developer.get(`/api/v1/runs/${runId}`)).status).toBe(200);
  });

  test('is restored unchanged', async () => {
    const back = await developer.post(path(id, '/undelete'));
    expect(back.json).toMatchObject({ id, version: 1, enabled: true });
    expect((await developer.get(path(id, '/files/main.py'))).status).toBe(200);
    expect((await developer.post(path(id, '/undelete'))).status).toBe(200);
    const { items } = (await developer.get('/api/v1/scripts')).json;
    expect(items.map((one: { id: string }) => one.id)).toContain(id);
  });

  test('of another group appears not to exist', async () => {
    const { id: foreign } = await script(platform.admin, { group_id: groups.monitoring });
    await platform.admin.delete(path(foreign));
    expect((await developer.post(path(foreign, '/undelete'))).status).toBe(404);
  });
});

describe('the list of deleted scripts', () => {
  let developerOfTrash: TestClient;
  const trash = async (query = '') => {
    const { json } = await developerOfTrash.get(`/api/v1/scripts?deleted=true${query}`);
    return (json as { items: { id: string; deleted_by?: string; deleted_at?: string }[] }).items;
  };
  let [kept, restored, purged] = ['', '', ''];
  beforeAll(async () => {
    developerOfTrash = await someone(platform, { role: 'developer', groupIds: [groups.bots] });
    const body = { group_id: groups.bots };
    [kept, restored, purged] = (await Promise.all(
      ['Kept', 'Restored', 'Purged'].map(async (name) => {
        const { id } = await script(developerOfTrash, { ...body, name });
        await developerOfTrash.delete(path(id));
        return id;
      }),
    )) as [string, string, string];
    await developerOfTrash.post(path(restored, '/undelete'));
    await platform.admin.post(path(purged, '/purge'));
  });

  test('shows the time and the user of each deletion', async () => {
    const items = await trash();
    expect(items.map(({ id }) => id)).toEqual([kept]);
    const { json: history } = await developerOfTrash.get(path(kept, '/history'));
    const [deletion] = history.items as { time: string; actor: string }[];
    expect(items[0]).toMatchObject({ deleted_at: deletion?.time, deleted_by: deletion?.actor });
    expect(await trash('&q=other')).toEqual([]);
  });

  test('omits scripts of other groups, and other lists omit deleted scripts', async () => {
    const { id } = await script(platform.admin, { group_id: groups.monitoring });
    await platform.admin.delete(path(id));
    expect((await trash()).map((one) => one.id)).toEqual([kept]);
    const { items } = (await developerOfTrash.get('/api/v1/scripts')).json;
    const listed = items.map((one: { id: string }) => one.id);
    expect(listed).toContain(restored);
    expect(listed).not.toContain(kept);
    expect(items[0]).not.toHaveProperty('deleted_at');
  });
});
