import { mustParse, parseScriptId } from '#domain/kernel/ids.ts';
import { PostgresEnvironmentLocks } from '#infra/postgres/operations/environment-locks.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { script } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

test('a version lists its packages, and a rebuild creates a version without packages', async () => {
  const { id } = await script(platform.admin);
  const path = `/api/v1/scripts/${id}/environment`;
  expect((await platform.admin.get(path)).json).toEqual({ script_id: id, version: 1, locks: [] });
  const locks = new PostgresEnvironmentLocks(platform.pool);
  const place = { scriptId: mustParse(parseScriptId, id), scriptVersion: 1, target: 'Linux-312' };
  const hash = `sha256:${'a'.repeat(64)}`;
  const lock = `greeter==1.0 --hash=${hash}\nown==2.0\n`;
  expect(await locks.record(place, lock)).toBe(lock);
  // A second caller gets the lock that was recorded first.
  expect(await locks.record(place, 'greeter==2.0\n')).toBe(lock);
  const shown = (await platform.admin.get(path)).json;
  expect(shown.locks).toMatchObject([
    {
      target: 'Linux-312',
      packages: [
        { name: 'greeter', version: '1.0', hashes: [hash] },
        { name: 'own', version: '2.0', hashes: [] },
      ],
    },
  ]);
  expect((await platform.admin.post(`${path}/rebuild`)).json.version).toBe(2);
  expect((await platform.admin.get(path)).json).toMatchObject({ version: 2, locks: [] });
  expect((await platform.admin.get(`${path}?version=1`)).json).toEqual(shown);
  expect((await platform.admin.get(`${path}?version=3`)).status).toBe(404);
});
