import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groups, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterAll(() => platform.close());

const path = (id: string, name = '') => `/api/v1/scripts/${id}/files${name && `/${name}`}`;

async function namesOf(id: string): Promise<readonly string[]> {
  const { items } = (await developer.get(path(id))).json as { items: { path: string }[] };
  return items.map((one) => one.path);
}

async function usedBytes(id: string): Promise<number> {
  return (await developer.get(`/api/v1/scripts/${id}`)).json.storage_used_bytes as number;
}

describe('a script with two files', () => {
  let id: string;
  let tag: string;
  beforeAll(async () => {
    ({ id } = await script(developer));
  });

  test('no longer lists or counts a deleted file', async () => {
    const before = await usedBytes(id);
    await developer.putBytes(path(id, 'lib/a.txt'), 'x'.repeat(1000));
    expect(await usedBytes(id)).toBe(before + 1000);
    const gone = await developer.delete(path(id, 'lib/a.txt'));
    expect(gone.status).toBe(204);
    expect(Number(gone.headers.get('orch-position'))).toBeGreaterThan(0);
    expect(await namesOf(id)).toEqual(['main.py']);
    expect((await developer.get(path(id, 'lib/a.txt'))).status).toBe(404);
    expect(await usedBytes(id)).toBe(before);
    expect((await developer.delete(path(id, 'lib/a.txt'))).status).toBe(404);
    expect((await developer.putBytes(path(id, 'lib/a.txt'), 'back')).status).toBe(200);
    expect(await usedBytes(id)).toBe(before + 4);
  });

  test('refuses changes based on another version', async () => {
    tag = (await developer.get(path(id, 'lib/a.txt'))).headers.get('etag') ?? '';
    for (const stale of ['"1"', `"${'f'.repeat(64)}"`, 'x']) {
      const headers = { 'If-Match': stale };
      expect((await developer.delete(path(id, 'lib/a.txt'), { headers })).status).toBe(412);
      const to = { to: 'x' };
      const moved = await developer.post(path(id, 'lib/a.txt/move'), to, { headers });
      expect(moved.status).toBe(412);
    }
  });

  test('keeps the content of a moved file', async () => {
    const before = await usedBytes(id);
    const moved = await developer.post(
      path(id, 'lib/a.txt/move'),
      { to: 'b/c.txt' },
      { headers: { 'If-Match': tag } },
    );
    expect(moved.json).toMatchObject({ path: 'b/c.txt', size_bytes: 4, script_version: 5 });
    expect(moved.headers.get('etag')).toBe(tag);
    expect((await developer.get(path(id, 'b/c.txt'))).text).toBe('back');
    expect(await namesOf(id)).toEqual(['b/c.txt', 'main.py']);
    expect(await usedBytes(id)).toBe(before);
  });

  test('refuses to move a file onto another file', async () => {
    const there = await developer.post(path(id, 'b/c.txt/move'), { to: 'main.py' });
    expect([there.status, there.json.code]).toEqual([409, 'already_exists']);
    const out = await developer.post(path(id, 'b/c.txt/move'), { to: '../x' });
    expect([out.status, out.json.code]).toEqual([422, 'invalid_path']);
    expect((await developer.post(path(id, 'nothing/move'), { to: 'x' })).status).toBe(404);
  });

  test('updates its entry point when the entry file is moved', async () => {
    const moved = await developer.post(path(id, 'main.py/move'), { to: 'move/move.py' });
    expect(moved.json.script_version).toBe(7);
    const { entrypoint, version } = (await developer.get(`/api/v1/scripts/${id}`)).json;
    expect([entrypoint, version]).toEqual(['move/move.py', 7]);
    expect((await developer.post(path(id, 'move/move.py/move'), { to: 'main.py' })).status).toBe(
      200,
    );
  });

  test('refuses to delete its last file', async () => {
    await developer.delete(path(id, 'b/c.txt'));
    const last = await developer.delete(path(id, 'main.py'));
    expect([last.status, last.json.code]).toEqual([409, 'last_file']);
  });
});
