import { afterAll, beforeAll, expect, test } from 'vitest';
import { groups, script, someone } from '../../testing/people.ts';
import { startTestBackend, type TestBackend } from '../../testing/test-backend.ts';
import type { TestClient } from '../../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
let path: string;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
  path = `/api/v1/scripts/${(await script(developer, { name: 'Report' })).id}`;
  await developer.putBytes(`${path}/files/main.py`, 'print(1)\n'); // version 2
  await developer.putBytes(`${path}/files/old.txt`, 'kept'); // 3
  await developer.putBytes(`${path}/files/main.py`, 'print(2)\n'); // 4
  await developer.delete(`${path}/files/old.txt`); // 5
  await developer.putBytes(`${path}/files/new.txt`, 'later'); // 6
});
afterAll(() => platform.close());

test('a restore makes the files of an earlier version one new version', async () => {
  const restored = await developer.post(`${path}/restore`, { version: 3 });
  expect([restored.status, restored.json.version]).toEqual([200, 7]);
  const files = (await developer.get(`${path}/files`)).json.items;
  expect(files.map((one: { path: string }) => one.path)).toEqual(['main.py', 'old.txt']);
  expect((await developer.get(`${path}/files/main.py`)).text).toContain('print(1)');
  const [latest] = (await developer.get(`${path}/history?limit=1`)).json.items;
  expect(latest).toMatchObject({
    action: 'files_restored',
    version: 7,
    changes: { restored_version: 3, deleted: ['new.txt'] },
  });
  const past = await developer.get(`${path}/diff?from=3&to=7`);
  expect(past.json.items).toEqual([]);
});

test('a restore includes the earlier entry point if the current one would be missing', async () => {
  await developer.post(`${path}/files/main.py/move`, { to: 'start.py' });
  const { version } = (await developer.get(path)).json;
  const restored = await developer.post(`${path}/restore`, { version: 2 });
  expect(restored.json).toMatchObject({ version: version + 2, entrypoint: 'main.py' });
});

test('a restore changes nothing if the files are already identical', async () => {
  const { version } = (await developer.get(path)).json;
  expect((await developer.post(`${path}/restore`, { version: 2 })).json.version).toBe(version);
});

test('a restore refuses unknown versions and outdated If-Match headers', async () => {
  expect((await developer.post(`${path}/restore`, { version: 99 })).status).toBe(404);
  const outdated = developer.with({ 'if-match': '"1"' });
  const stale = await outdated.post(`${path}/restore`, { version: 3 });
  expect(stale.json.code).toBe('version_mismatch');
});
