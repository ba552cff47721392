import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groups, script, someone } from '../../testing/people.ts';
import { startTestBackend, type TestBackend } from '../../testing/test-backend.ts';
import type { TestClient } from '../../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterAll(() => platform.close());

interface HistoryEntry {
  readonly action: string;
  readonly version: number | null;
  readonly changes: object;
  readonly files: readonly object[];
}

describe('the history of a changed and deleted script', () => {
  let path: string;
  beforeAll(async () => {
    const { id } = await script(developer, { name: 'First' });
    path = `/api/v1/scripts/${id}`;
    await developer.patch(path, { name: 'Second', max_concurrent_runs: 2 });
    await developer.putBytes(`${path}/files/a.txt`, 'a');
    await developer.post(`${path}/files/a.txt/move`, { to: 'b.txt' });
    await developer.delete(`${path}/files/b.txt`);
    await developer.delete(path);
  });

  test('lists all changes, newest first', async () => {
    const { items } = (await developer.get(`${path}/history`)).json as { items: HistoryEntry[] };
    expect(items.map((one) => [one.action, one.version])).toEqual([
      ['script_deleted', null],
      ['file_deleted', 5],
      ['file_moved', 4],
      ['file_saved', 3],
      ['script_changed', 2],
      ['script_created', 1],
    ]);
    expect(items[2]?.changes).toMatchObject({ from: 'a.txt', path: 'b.txt', size_bytes: 1 });
    expect(items[4]?.changes).toEqual({ name: 'Second', max_concurrent_runs: 2 });
    expect(items[5]).toMatchObject({ changes: { name: 'First' } });
  });

  test('links each changed file to its content before and after', async () => {
    const { items } = (await developer.get(`${path}/history`)).json as { items: HistoryEntry[] };
    const a = createHash('sha256').update('a').digest('hex');
    expect(items.map((one) => one.files)).toEqual([
      [],
      [{ path: 'b.txt', sha256_before: a, sha256_after: null }],
      [
        { path: 'a.txt', sha256_before: a, sha256_after: null },
        { path: 'b.txt', sha256_before: null, sha256_after: a },
      ],
      [{ path: 'a.txt', sha256_before: null, sha256_after: a }],
      [],
      [{ path: 'main.py', sha256_before: null, sha256_after: expect.stringMatching(/^\w{64}$/) }],
    ]);
    const [page] = (await developer.get(`${path}/history?limit=2`)).json.items.slice(1);
    expect(page).toEqual(items[1]);
  });

  test('is read page by page, without repeats', async () => {
    const actions: string[] = [];
    let next = `${path}/history?limit=4`;
    while (next !== '') {
      const page = await developer.get(next);
      actions.push(...page.json.items.map((one: HistoryEntry) => one.action));
      next = /<(.+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
    }
    expect(actions).toHaveLength(6);
    expect(actions.at(-1)).toBe('script_created');
  });

  test('does not exist for a user of another group', async () => {
    const { id } = await script(platform.admin, { group_id: groups.bots });
    expect((await developer.get(`/api/v1/scripts/${id}/history`)).status).toBe(404);
  });
});
