import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import { advance, removeLogs } from '#infra/postgres/operations/removals.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finishRun, run, script, startRun, writeLines } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

const path = '/api/v1/system/retention';
const everything = {
  logs_days: null,
  samples_days: null,
  artifacts_days: null,
  payloads_days: null,
};

test('all data is kept until an administrator sets a retention period', async () => {
  const unchanged = { ...everything, changed_at: null, changed_by: null };
  expect((await platform.admin.get(path)).json).toEqual(unchanged);
  const changed = await platform.admin.sendJson('PUT', path, { logs_days: 30, samples_days: 7 });
  expect(changed.json).toMatchObject({ ...everything, logs_days: 30, samples_days: 7 });
  expect(changed.json.changed_by).toBe('admin@example.com');
  await platform.admin.sendJson('PUT', path, { samples_days: null });
  expect((await platform.admin.get(path)).json).toMatchObject({ ...everything, logs_days: 30 });
  const { rows } = await platform.pool.query(
    "SELECT type FROM events WHERE stream_id = 'system-retention' ORDER BY version",
  );
  expect(rows).toEqual([{ type: 'RetentionChanged' }, { type: 'RetentionChanged' }]);
});

test.each([0, 1.5, '7', 36_501])('a retention period of %j days is refused', async (days) => {
  const answer = await platform.admin.sendJson('PUT', path, { logs_days: days });
  expect([answer.status, answer.json.code]).toEqual([422, 'validation_failed']);
});

/** Creates a finished run with three log lines and parameters. */
async function endedRun(): Promise<string> {
  const { id: scriptId } = await script(platform.admin);
  const id = await run(platform.admin, scriptId, { params: { secret: scriptId } });
  await writeLines(platform, id, 1, ['a', 'b', 'c']);
  await finishRun(platform, id, await startRun(platform, id));
  return id;
}

describe('a run with expired data', () => {
  test('reports that its log was removed', async () => {
    const id = await endedRun();
    expect((await platform.admin.get(`/api/v1/runs/${id}`)).json.removed).toEqual([]);
    await removeLogs(
      platform.pool,
      [{ run_id: id, finished_at: new Date() }],
      'retention',
      new AbortController().signal,
    );
    await advance(platform.pool, 'logs', id, []);
    expect((await platform.admin.get(`/api/v1/runs/${id}`)).json.removed).toEqual(['logs']);
    const logs = await platform.admin.get(`/api/v1/runs/${id}/logs`);
    expect(logs.json.items).toMatchObject([{ seq: 1, stream: 'system', to_seq: 3 }]);
    const plain = await platform.admin.get(`/api/v1/runs/${id}/logs?format=text`);
    expect(plain.text).toBe('… 3 lines were removed by retention …\n');
  });

  test('keeps its data if it is still active at the time of the removal', async () => {
    const id = await endedRun();
    await advance(platform.pool, 'logs', id, [id]);
    expect((await platform.admin.get(`/api/v1/runs/${id}`)).json.removed).toEqual([]);
  });

  test('reports that its parameters were removed, and cannot be rerun', async () => {
    const id = await endedRun();
    const { rows } = await platform.pool.query<{ sha256: string }>(
      'SELECT params_sha256 AS sha256 FROM runs WHERE run_id = $1',
      [mustParse(parseRunId, id)],
    );
    const again = () => platform.admin.post(`/api/v1/runs/${id}/rerun`, { version: 'same' });
    expect((await again()).status).toBe(202);
    await platform.pool.query('DELETE FROM payloads WHERE sha256 = $1', [rows[0]?.sha256]);
    const shown = (await platform.admin.get(`/api/v1/runs/${id}`)).json;
    expect([shown.params, shown.removed]).toEqual([null, ['payloads']]);
    const refused = await again();
    expect([refused.status, refused.json.code]).toEqual([409, 'params_removed']);
  });
});
