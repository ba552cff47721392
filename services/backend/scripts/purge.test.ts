import { mustParse, parseScriptId } from '#domain/kernel/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asRuntime, finishRun, run, script, startRun } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

const purge = (id: string) => platform.admin.post(`/api/v1/scripts/${id}/purge`);

test('a script can be purged only after it is deleted', async () => {
  const { id } = await script(platform.admin);
  const refused = await purge(id);
  expect([refused.status, refused.json.code]).toEqual([409, 'script_not_deleted']);
  expect((await platform.admin.get(`/api/v1/scripts/${id}`)).status).toBe(200);
});

describe('a deleted script with a run', () => {
  let id: string;
  let runId: string;
  beforeAll(async () => {
    id = (await script(platform.admin)).id;
    runId = await run(platform.admin, id, { params: { a: 1 } });
    await finishRun(platform, runId, await startRun(platform, runId));
    await platform.admin.delete(`/api/v1/scripts/${id}`);
  });

  test('cannot be restored after its purge, and keeps its history', async () => {
    const started = await purge(id);
    expect([started.status, started.json]).toEqual([202, { script_id: id, state: 'started' }]);
    expect((await purge(id)).json).toEqual(started.json);
    const undelete = await platform.admin.post(`/api/v1/scripts/${id}/undelete`);
    expect([undelete.status, undelete.json.code]).toEqual([409, 'script_purged']);
    const past = await platform.admin.get(`/api/v1/scripts/${id}/history`);
    expect(past.json.items.map((one: { action: string }) => one.action)).toEqual([
      'script_purged',
      'script_deleted',
      'script_created',
    ]);
  });

  test('keeps its runs readable, with a note about the purged data', async () => {
    await platform.pool.query('DELETE FROM payloads');
    const shown = (await platform.admin.get(`/api/v1/runs/${runId}`)).json;
    expect(shown.status).toBe('success');
    expect(shown.removed).toEqual(['logs', 'samples', 'artifacts', 'payloads']);
  });

  test('reports when its purge has ended', async () => {
    await asRuntime(platform, { type: 'FinishPurge', scriptId: mustParse(parseScriptId, id) });
    expect((await purge(id)).json).toEqual({ script_id: id, state: 'finished' });
  });
});
