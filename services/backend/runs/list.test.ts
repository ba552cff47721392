import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groups, nowhere, run, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

describe('the runs of several groups', () => {
  let viewer: TestClient;
  let own: string;
  beforeAll(async () => {
    const maker = await someone(platform, { role: 'developer', groupIds: [groups.bots] });
    viewer = await someone(platform, { role: 'viewer', groupIds: [groups.bots] });
    own = (await script(maker, { name: 'Own bot', max_concurrent_runs: 9 })).id;
    for (let index = 0; index < 3; index += 1) await run(maker, own);
    const elsewhere = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
    await run(elsewhere, (await script(elsewhere, { name: 'Report' })).id);
  });

  const count = async (query: string) =>
    (await viewer.get(`/api/v1/runs?${query}`)).json.items.length as number;

  test('are listed only for members of their group', async () => {
    const { items } = (await viewer.get('/api/v1/runs')).json;
    expect(new Set(items.map((one: { script_id: string }) => one.script_id))).toEqual(
      new Set([own]),
    );
    expect(await count(`group_id=${groups.custom}`)).toBe(0);
    const all = (await platform.admin.get('/api/v1/runs?limit=200')).json.items;
    expect(all.length).toBeGreaterThan(items.length);
  });

  test('can be filtered', async () => {
    expect(await count('status=queued')).toBe(3);
    expect(await count('status=failed')).toBe(0);
    expect(await count('trigger_type=manual&q=OWN')).toBe(3);
    expect(await count('trigger=manual')).toBe(3);
    expect(await count('trigger=manual&trigger_type=schedule')).toBe(0);
    expect(await count(`script_id=${nowhere}`)).toBe(0);
    expect(await count('from=2020-01-01T00:00:00Z&to=2099-01-01T00:00:00%2B01:00')).toBe(3);
    expect(await count('to=2020-01-01T00:00:00Z')).toBe(0);
  });

  test('can be filtered by exclusion', async () => {
    expect(await count('status=!success,failed')).toBe(3);
    expect(await count('status=!queued,running')).toBe(0);
    expect(await count('status=queued,running')).toBe(3);
    expect(await count('trigger_type=!schedule')).toBe(3);
    expect(await count('trigger_type=!manual')).toBe(0);
    expect(await count('trigger=!manual')).toBe(0);
    expect(await count(`script_id=!${nowhere}`)).toBe(3);
    expect(await count(`script_id=!${own}`)).toBe(0);
    expect(await count(`group_id=!${groups.custom}`)).toBe(3);
    expect(await count(`group_id=!${groups.bots}`)).toBe(0);
    const others = await platform.admin.get(`/api/v1/runs?group_id=!${groups.bots}&limit=200`);
    expect(others.json.items.length).toBeGreaterThan(0);
    expect(JSON.stringify(others.json.items)).not.toContain(own);
  });

  test.each([
    'status=!',
    'status=done',
    'status=queued,',
    'trigger_type=!cron',
    'trigger=cron',
    'script_id=!own',
    'sort=weather',
  ])('cannot be filtered by %s', async (query) => {
    const answer = await viewer.get(`/api/v1/runs?${query}`);
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter']);
  });

  test('can be sorted, page by page', async () => {
    const namesOf = (page: { items: { script_name: string }[] }) =>
      page.items.map((one) => one.script_name);
    const path = '/api/v1/runs?sort=-script&limit=2';
    const first = (await platform.admin.get(path)).json;
    const rest = (await platform.admin.get(`${path}&cursor=${first.next_cursor}`)).json;
    expect([namesOf(first), namesOf(rest)]).toEqual([
      ['Report', 'Own bot'],
      ['Own bot', 'Own bot'],
    ]);
    const other = await platform.admin.get(`/api/v1/runs?sort=script&cursor=${first.next_cursor}`);
    expect([other.status, other.json.code]).toEqual([400, 'invalid_cursor']);
    expect((await viewer.get('/api/v1/runs?sort=-duration')).json.items).toHaveLength(3);
  });

  test('are read page by page, without repeats', async () => {
    const first = (await viewer.get('/api/v1/runs?limit=2')).json;
    const rest = (await viewer.get(`/api/v1/runs?limit=2&cursor=${first.next_cursor}`)).json;
    const ids = [...first.items, ...rest.items].map((one: { id: string }) => one.id);
    expect(new Set(ids).size).toBe(3);
    expect(ids).toEqual(ids.toSorted().toReversed());
  });
});
