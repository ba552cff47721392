import { afterAll, beforeAll, expect, test } from 'vitest';
import { groups, nowhere, script, someone } from '../../testing/people.ts';
import { startTestBackend, type TestBackend } from '../../testing/test-backend.ts';
import type { TestClient } from '../../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
let path: string;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
  path = `/api/v1/scripts/${(await script(developer, { name: 'Report' })).id}`;
  await developer.putBytes(`${path}/files/main.py`, 'import sys\nprint(1)\n'); // version 2
  await developer.putBytes(`${path}/files/data.bin`, Buffer.from([0, 255])); // 3
  await developer.putBytes(`${path}/files/big.txt`, 'x'.repeat(300_000)); // 4
  await developer.patch(path, { max_concurrent_runs: 3 }); // 5
  await developer.putBytes(`${path}/files/main.py`, 'import sys\nprint(2)\n'); // 6
  await developer.post(`${path}/disable`);
  await developer.delete(path);
});
afterAll(() => platform.close());

async function diff(query: string) {
  const answer = await developer.get(`${path}/diff${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

test('a diff compares two versions of a deleted script, by default the last two', async () => {
  expect(await diff('')).toMatchObject({
    from: 5,
    to: 6,
    settings: [],
    items: [
      {
        path: 'main.py',
        change: 'changed',
        diff: '@@ -1,2 +1,2 @@\n import sys\n-print(1)\n+print(2)\n',
        omitted: null,
      },
    ],
  });
  const all = await diff('?from=2&to=6');
  expect(all.settings).toEqual([{ name: 'max_concurrent_runs', before: 1, after: 3 }]);
  expect(all.items).toMatchObject([
    { path: 'big.txt', change: 'added', diff: null, omitted: 'too_large' },
    { path: 'data.bin', change: 'added', diff: null, omitted: 'binary' },
    { path: 'main.py', change: 'changed' },
  ]);
  expect((await diff('?from=6&to=2')).items[0]).toMatchObject({ change: 'removed' });
});

test('a diff of a file contains both versions', async () => {
  const main = async (version: string) => await developer.get(`${path}/files/main.py?${version}`);
  expect((await main('version=2')).text).toBe('import sys\nprint(1)\n');
  expect((await main('version=6')).text).toBe('import sys\nprint(2)\n');
  expect((await main('version=7')).json.detail).toBe('The script has no such version.');
  expect((await main('version=1&at=1')).json.detail).toBe(
    'Use either "at" or "version", not both.',
  );
  const missing = await developer.get(`${path}/files/data.bin?version=2`);
  expect(missing.json.detail).toBe('This version of the script has no such file.');
  const stranger = await someone(platform, { role: 'developer', groupIds: [groups.bots] });
  expect((await stranger.get(`${path}/files/main.py?version=2`)).status).toBe(404);
});

test('a diff of many files is read page by page', async () => {
  const first = await diff('?from=2&to=6&limit=2');
  expect(first.items).toHaveLength(2);
  const rest = await diff(`?from=2&to=6&limit=2&cursor=${first.next_cursor}`);
  expect([rest.items[0].path, rest.next_cursor]).toEqual(['main.py', null]);
});

test('a diff of an unknown version, or for an unauthorized user, returns 404', async () => {
  expect((await developer.get(`${path}/diff?to=7`)).status).toBe(404);
  expect((await developer.get(`/api/v1/scripts/${nowhere}/diff`)).status).toBe(404);
  const outsider = await someone(platform, { role: 'developer', groupIds: [groups.bots] });
  expect((await outsider.get(`${path}/diff`)).status).toBe(404);
  expect((await outsider.get(`${path}/history`)).status).toBe(404);
});
