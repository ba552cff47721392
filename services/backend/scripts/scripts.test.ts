import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finishRun, groups, nowhere, run, script, someone, startRun } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import { statusesOf, type TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterAll(() => platform.close());

const path = (id: string) => `/api/v1/scripts/${id}`;

describe('a developer', () => {
  test('creates a complete script with a main.py', async () => {
    const created = await developer.post('/api/v1/scripts', { name: 'Watcher', tags: ['a'] });
    expect(created.json).toMatchObject({
      name: 'Watcher',
      group: 'custom',
      enabled: true,
      version: 1,
      max_concurrent_runs: 1,
      storage_quota_bytes: 104_857_600,
      limits: { cpu_seconds: 3600, memory_bytes: 1_073_741_824, open_files: 256 },
      tags: ['a'],
      last_run: null,
    });
    expect(created.json.storage_used_bytes).toBeGreaterThan(100);
    expect(created.headers.get('location')).toBe(path(created.json.id));
    expect(created.headers.get('etag')).toBe('"1"');
    expect(Number(created.headers.get('orch-position'))).toBeGreaterThan(0);
    const file = await developer.get(`${path(created.json.id)}/files/main.py`);
    expect(file.text).toContain('def main()');
  });

  test('lists scripts with their latest runs, newest first', async () => {
    const { id } = await script(developer);
    const ended = await run(developer, id);
    await finishRun(platform, ended, await startRun(platform, ended));
    const queued = await run(developer, id);
    const { items } = (await developer.get('/api/v1/scripts?with=activity')).json;
    const [listed] = items as { activity: unknown; last_run: { finished_at: string } }[];
    expect(listed?.activity).toEqual({
      recent_runs: [
        { run_id: queued, status: 'queued', finished_at: null, duration_ms: null },
        {
          run_id: ended,
          status: 'success',
          finished_at: listed?.last_run.finished_at,
          duration_ms: 12,
        },
      ],
      next_fire_at: null,
    });
  });

  test('creates scripts in their first group by default', async () => {
    const other = await someone(platform, { role: 'developer', groupIds: [groups.bots] });
    expect((await other.post('/api/v1/scripts', { name: 'Bot' })).json.group).toBe('bots');
  });

  test('cannot create a script in another group', async () => {
    const answer = await developer.post('/api/v1/scripts', { name: 'X', group_id: groups.bots });
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, '/group_id']);
    const { id } = await script(developer);
    const moved = await developer.patch(path(id), { group_id: groups.bots });
    expect(moved.status).toBe(422);
  });

  test('gets the first response again if an idempotency key is repeated', async () => {
    const headers = { 'Idempotency-Key': 'make it once' };
    const key = { headers: { 'Idempotency-Key': 'make-it-once' } };
    expect((await developer.post('/api/v1/scripts', { name: 'X' }, { headers })).status).toBe(400);
    const first = await developer.post('/api/v1/scripts', { name: 'Once' }, key);
    const second = await developer.post('/api/v1/scripts', { name: 'Once' }, key);
    expect(second.text).toBe(first.text);
    expect(second.status).toBe(201);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    const other = await developer.post('/api/v1/scripts', { name: 'Other' }, key);
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused']);
  });

  test('creates only one script if an idempotency key is repeated concurrently', async () => {
    const key = { headers: { 'Idempotency-Key': 'all-at-once' } };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => developer.post('/api/v1/scripts', { name: 'One' }, key)),
    );
    expect(new Set(answers.map((one) => one.json.id)).size).toBe(1);
  });
});

describe('a script', () => {
  test('keeps the settings that a change omits, and removes a limit with null', async () => {
    const { id } = await script(developer, { limits: { open_files: 99 } });
    const changed = await developer.patch(
      path(id),
      { limits: { cpu_seconds: null, wall_clock_seconds: 5 }, description: 'new' },
      { headers: { 'Content-Type': 'application/merge-patch+json' } },
    );
    expect(changed.json).toMatchObject({
      description: 'new',
      version: 2,
      limits: { cpu_seconds: null, wall_clock_seconds: 5, open_files: 99 },
    });
    const put = await developer.put(path(id), { name: 'By PUT' });
    expect(put.json).toMatchObject({ name: 'By PUT', description: 'new', version: 3 });
  });

  test('applies two concurrent changes to different limits', async () => {
    const { id } = await script(developer);
    const limits = [{ open_files: 7 }, { processes: 8 }, { cpu_seconds: 9 }];
    await Promise.all(limits.map((one) => developer.patch(path(id), { limits: one })));
    const { limits: now } = (await developer.get(path(id))).json as { limits: object };
    expect(now).toMatchObject({ open_files: 7, processes: 8, cpu_seconds: 9 });
  });

  test('refuses the second save with the same ETag', async () => {
    const { id } = await script(developer);
    const headers = { 'If-Match': '"1"' };
    const answers = await Promise.all(
      ['a', 'b'].map((name) => developer.patch(path(id), { name }, { headers })),
    );
    expect(statusesOf(answers)).toEqual([200, 412]);
    const weird = await developer.patch(path(id), { name: 'c' }, { headers: { 'If-Match': 'x' } });
    expect(weird.status).toBe(412);
    const any = await developer.patch(path(id), { name: 'd' }, { headers: { 'If-Match': '*' } });
    expect(any.status).toBe(200);
  });

  test('returns 304 if unchanged', async () => {
    const { id } = await script(developer);
    const answer = await developer.get(path(id), { headers: { 'If-None-Match': 'W/"1"' } });
    expect([answer.status, answer.text]).toEqual([304, '']);
  });

  test('keeps its version when disabled and enabled', async () => {
    const { id } = await script(developer);
    const off = await developer.post(`${path(id)}/disable`);
    expect(off.json).toMatchObject({ enabled: false, version: 1 });
    expect((await developer.patch(path(id), { enabled: true })).json.enabled).toBe(true);
    expect((await developer.post(`${path(id)}/enable`)).json.enabled).toBe(true);
  });

  test('is hidden from all users after deletion', async () => {
    const { id } = await script(developer);
    const stale = await developer.delete(path(id), { headers: { 'If-Match': '"7"' } });
    expect(stale.status).toBe(412);
    expect((await developer.delete(path(id))).status).toBe(204);
    expect((await platform.admin.get(path(id))).status).toBe(404);
    expect((await developer.delete(path(id))).status).toBe(404);
  });

  test('of another group looks like an unknown script', async () => {
    const { id } = await script(platform.admin, { group_id: groups.bots });
    const foreign = await developer.get(path(id));
    const never = await developer.get(path(nowhere));
    expect(foreign.status).toBe(404);
    expect({ ...foreign.json, trace_id: '' }).toEqual({ ...never.json, trace_id: '' });
  });
});

describe('many scripts', () => {
  let reader: TestClient;
  beforeAll(async () => {
    const maker = await someone(platform, { role: 'developer', groupIds: [groups.monitoring] });
    reader = await someone(platform, { role: 'viewer', groupIds: [groups.monitoring] });
    for (const name of ['Alpha', 'Beta', 'Gamma', 'Delta', 'alphabet'])
      await script(maker, { name });
  });

  test('are read page by page, newest first, without repeats', async () => {
    const names: string[] = [];
    let next = '/api/v1/scripts?limit=2';
    while (next !== '') {
      const page = await reader.get(next);
      names.push(...page.json.items.map((one: { name: string }) => one.name));
      next = /<(.+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
      expect(page.json.next_cursor === null).toBe(next === '');
    }
    expect(names).toEqual(['alphabet', 'Delta', 'Gamma', 'Beta', 'Alpha']);
  });

  test('are found by a part of their names', async () => {
    const found = await reader.get('/api/v1/scripts?q=ALPHA');
    expect(found.json.items).toHaveLength(2);
    expect((await reader.get('/api/v1/scripts?enabled=false')).json.items).toEqual([]);
    const foreign = await reader.get(`/api/v1/scripts?group_id=${groups.custom}`);
    expect(foreign.json.items).toEqual([]);
  });

  test('are sorted by name regardless of case, page by page', async () => {
    const names: string[] = [];
    let next = '/api/v1/scripts?limit=2&sort=name';
    while (next !== '') {
      const page = await reader.get(next);
      names.push(...page.json.items.map((one: { name: string }) => one.name));
      next = /<(.+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
    }
    expect(names).toEqual(['Alpha', 'alphabet', 'Beta', 'Delta', 'Gamma']);
  });

  test('are filtered by group, tag and last run', async () => {
    const maker = await someone(platform, { role: 'developer', groupIds: [groups.monitoring] });
    const { id } = await script(maker, { name: 'Tagged', tags: ['prices', 'daily'] });
    const runId = await run(maker, id);
    await finishRun(platform, runId, await startRun(platform, runId));
    const names = async (query: string) => {
      const { items } = (await reader.get(`/api/v1/scripts?${query}`)).json;
      return items.map((one: { name: string }) => one.name);
    };
    expect(await names('tag=prices')).toEqual(['Tagged']);
    expect(await names('tag=price')).toEqual([]);
    expect(await names('last_status=success,stopped')).toEqual(['Tagged']);
    expect(await names('last_status=!success')).toEqual([]);
    expect(await names(`group_id=!${groups.monitoring}`)).toEqual([]);
    expect(await names(`group_id=!${groups.custom}&q=tag&enabled=true`)).toEqual(['Tagged']);
    expect((await reader.get('/api/v1/scripts?sort=age')).status).toBe(400);
    expect((await maker.delete(`/api/v1/scripts/${id}`)).status).toBe(204);
  });

  test('cannot be read with a cursor of another list', async () => {
    const { next_cursor: cursor } = (await reader.get('/api/v1/scripts?limit=2')).json;
    for (const path of [
      `/api/v1/scripts?limit=2&q=a&cursor=${cursor}`,
      `/api/v1/runs?cursor=${cursor}`,
      '/api/v1/scripts?cursor=nonsense',
      '/api/v1/scripts?cursor=%00',
    ]) {
      const answer = await reader.get(path);
      expect(answer.status).toBe(400);
    }
    const answer = await reader.get(`/api/v1/runs?cursor=${cursor}`);
    expect(answer.json.code).toBe('invalid_cursor');
  });
});
