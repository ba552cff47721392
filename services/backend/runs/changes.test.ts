/** Tests the comparison of a run with the last successful run of its script. */
import { mustParse, parseScriptId } from '#domain/kernel/ids.ts';
import type { RunError } from '#domain/run/error/error.ts';
import { PostgresEnvironmentLocks } from '#infra/postgres/operations/environment-locks.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finishRun, groups, nowhere, run, script, someone, startRun } from '../testing/people.ts';
import { keptError } from '#services/shared/run-errors.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let scriptId: string;
let path: string;
beforeAll(async () => {
  platform = await startTestBackend();
  scriptId = (await script(platform.admin, { group_id: groups.custom })).id;
  path = `/api/v1/scripts/${scriptId}`;
});
afterAll(() => platform.close());

async function ended(outcome: 'success' | 'exit_code', params: object = {}): Promise<string> {
  const id = await run(platform.admin, scriptId, { params });
  const fence = await startRun(platform, id);
  await finishRun(platform, id, fence, outcome, 12, outcome === 'success' ? undefined : kept);
  return id;
}

const frame = {
  file: 'lib/parse.py',
  line: 2,
  function: 'parse',
  code: 'return int(text) / 0',
  own: true,
};
const error: RunError = {
  type: 'ZeroDivisionError',
  message: 'division by zero',
  frames: [frame],
  causes: [],
  source: 'hook',
};
const kept = keptError(error, mustParse(parseScriptId, nowhere));

const changes = async (id: string, client: TestClient = platform.admin) =>
  (await client.get(`/api/v1/runs/${id}/changes`)).json;

test('a run without an earlier success has no comparison', async () => {
  expect(await changes(await ended('exit_code'))).toMatchObject({
    base_run_id: null,
    from: null,
    files: null,
    runtime: [],
  });
});

describe('a failed run after fifty changes', () => {
  let success: string;
  let failed: string;
  let versions: readonly [from: number, to: number];
  let broken: number;
  beforeAll(async () => {
    const { admin } = platform;
    const change = async (body: object) => expect((await admin.patch(path, body)).status).toBe(200);
    const save = async (name: string, text: string) =>
      expect((await admin.putBytes(`${path}/files/${name}`, text)).status).toBeLessThan(300);
    const lock = async (packages: string) => {
      const { version } = (await admin.get(path)).json;
      const place = { scriptId: mustParse(parseScriptId, scriptId), target: 'Linux' };
      const locks = new PostgresEnvironmentLocks(platform.services.database);
      await locks.record({ ...place, scriptVersion: version as number }, packages);
      return version as number;
    };
    const secret = async (name: string, value: string) =>
      expect((await admin.put(`${path}/secrets/${name}`, { value })).status).toBeLessThan(300);
    await save('lib/parse.py', 'def parse(text):\n    return int(text)\n');
    await save('old.py', 'pass\n');
    await change({ environment: { REGION: 'value before', DROPPED: 'value before' } });
    await secret('ROTATED', 'value before');
    await secret('SAME', 'value before');
    const from = await lock('requests==2.31.0\nidna==3.7\n');
    success = await ended('success', { limit: 10, mode: 'fast' });
    await ended('exit_code');
    for (let number = 1; number <= 43; number += 1) {
      await save('notes.md', `note ${number}\n`);
      if (number !== 31) continue;
      await save('lib/parse.py', 'def parse(text):\n    return int(text) / 0\n');
      broken = (await admin.get(path)).json.version as number;
    }
    await admin.delete(`${path}/files/old.py`);
    await change({ description: 'Parses numbers', limits: { wall_clock_seconds: 60 } });
    await change({ python: '3.12' });
    await change({ environment: { REGION: 'value after', ADDED: 'value after', DROPPED: null } });
    await secret('ROTATED', 'value after');
    await secret('NEW', 'value after');
    versions = [from, await lock('requests==2.32.0\nidna==3.7\nattrs==24\n')];
    failed = await ended('exit_code', { limit: 20, mode: 'fast' });
  });

  test('is compared with the last successful run', async () => {
    expect(await changes(failed)).toMatchObject({
      run_id: failed,
      base_run_id: success,
      from: versions[0],
      to: versions[1],
    });
  });

  test('lists the file of the error first, with the version that changed it', async () => {
    const { files } = await changes(failed);
    const named = files.filter((file: { in_error: boolean }) => file.in_error);
    expect(named).toMatchObject([
      { path: 'lib/parse.py', last_change: { version: broken, actor: expect.stringMatching(/@/) } },
    ]);
    expect(files[0].path).toBe('lib/parse.py');
  });

  test('lists the changed files with their diffs', async () => {
    const { files, files_omitted } = await changes(failed);
    expect(files).toMatchObject([
      { path: 'lib/parse.py', change: 'changed' },
      { path: 'notes.md', change: 'added' },
      { path: 'old.py', change: 'removed' },
    ]);
    expect(files[0].diff).toContain('-    return int(text)\n+    return int(text) / 0\n');
    expect(files_omitted).toBe(0);
  });

  test('shows changed settings, except those in other sections', async () => {
    const { settings } = await changes(failed);
    expect(settings.map(({ name }: { name: string }) => name)).toEqual(['description', 'limits']);
    expect(settings[1].after).toMatchObject({ wall_clock_seconds: 60 });
  });

  test('shows the Python version and changed packages', async () => {
    expect((await changes(failed)).environment).toEqual({
      python: { before: null, after: '3.12' },
      packages: [
        { name: 'attrs', before: null, after: '24' },
        { name: 'requests', before: '2.31.0', after: '2.32.0' },
      ],
    });
  });

  test('shows changed parameters', async () => {
    expect((await changes(failed)).parameters).toEqual([{ name: 'limit', before: 10, after: 20 }]);
  });

  test('names changed variables and secrets without their values', async () => {
    const answer = await changes(failed);
    expect(answer.configuration).toEqual({
      variables: [
        { name: 'ADDED', change: 'added' },
        { name: 'DROPPED', change: 'removed' },
        { name: 'REGION', change: 'changed' },
      ],
      secrets: [
        { name: 'NEW', change: 'added' },
        { name: 'ROTATED', change: 'changed' },
      ],
    });
    expect(JSON.stringify(answer)).not.toMatch(/value/);
  });

  test('shows that the runs used different runtimes', async () => {
    const id = await run(platform.admin, scriptId, {});
    const fence = await startRun(platform, id, 'runtime-2');
    await finishRun(platform, id, fence, 'exit_code');
    expect((await changes(id)).runtime).toEqual([
      { name: 'runtime_id', before: 'runtime-1', after: 'runtime-2' },
    ]);
  });

  test("hides the parts that the caller may not see, and runs outside the caller's groups", async () => {
    const inGroup = { groupIds: [groups.custom] };
    const viewer = await someone(platform, { role: 'viewer', ...inGroup });
    expect(await changes(failed, viewer)).toMatchObject({
      base_run_id: success,
      files: null,
      environment: null,
      configuration: { secrets: null, variables: [{}, {}, {}] },
    });
    const operator = await someone(platform, { role: 'operator', ...inGroup });
    const shown = await changes(failed, operator);
    expect(shown).toMatchObject({ files: [{}, {}, {}], configuration: { secrets: null } });
    const outsider = await someone(platform, { role: 'developer', groupIds: [groups.bots] });
    for (const [client, id] of [
      [outsider, failed],
      [platform.admin, nowhere],
    ] as const) {
      expect((await client.get(`/api/v1/runs/${id}/changes`)).status).toBe(404);
    }
  });
});
