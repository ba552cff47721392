/** Tests the reasons why queued runs wait, in the API and in alarms. */
import { reportRuntime, removeRuntime } from '#infra/postgres/queue/runtimes.ts';
import { PostgresRunQueue } from '#infra/postgres/queue/run-queue.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { groups, run, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
beforeEach(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterEach(() => platform.close());

const startRuntime = (runtimeId: string, labels: readonly string[], slots = 1) =>
  reportRuntime(platform.pool, {
    runtime_id: runtimeId,
    started_at: new Date('2026-01-01T00:00:00Z'),
    slots,
    running: 0,
    layers: [],
    python: null,
    labels,
  });

const waitingFor = async (runId: string) =>
  (await developer.get(`/api/v1/runs/${runId}`)).json.waiting_for as unknown;

async function labelAlarms(): Promise<readonly string[]> {
  const { alarms } = (await platform.admin.get('/api/v1/system/info')).json;
  return alarms
    .filter(({ name }: { name: string }) => name === 'label_missing')
    .map(({ detail }: { detail: string }) => detail);
}

describe('a run that requires labels', () => {
  test('names the missing label and raises an alarm until a runtime has all labels', async () => {
    const { id } = await script(developer, { runs_on: ['gpu', 'zone-b'] });
    await startRuntime('plain', ['zone-b']);
    const runId = await run(developer, id);
    expect(await waitingFor(runId)).toEqual({ kind: 'label', name: 'gpu' });
    expect(await labelAlarms()).toEqual([
      expect.stringMatching(/^1 queued run requires a runtime with the label gpu, .*LABELS=gpu,/),
    ]);
    await startRuntime('other', ['gpu']);
    expect(await waitingFor(runId)).toEqual({ kind: 'label', name: 'gpu, zone-b' });
    await startRuntime('other', ['gpu', 'zone-b']);
    expect(await waitingFor(runId)).toBeNull();
    expect(await labelAlarms()).toEqual([]);
    await removeRuntime(platform.pool, 'other');
    expect(await waitingFor(runId)).toEqual({ kind: 'label', name: 'gpu' });
    await developer.post(`/api/v1/runs/${runId}/stop`);
    expect(await labelAlarms()).toEqual([]);
  });

  test('treats a runtime that has not reported for a minute as absent', async () => {
    const { id } = await script(developer, { runs_on: ['gpu'] });
    await startRuntime('silent', ['gpu']);
    const runId = await run(developer, id);
    expect(await waitingFor(runId)).toBeNull();
    await platform.pool.query(`UPDATE runtimes SET seen_at = now() - interval '2 minutes'`);
    expect(await waitingFor(runId)).toEqual({ kind: 'label', name: 'gpu' });
  });
});

describe('a queued run', () => {
  test('waits for a slot of its script if all slots are taken, and lists show the reason', async () => {
    await startRuntime('plain', [], 9);
    const { id } = await script(developer, { name: 'Import', max_concurrent_runs: 1 });
    const first = await run(developer, id);
    const queued = await developer.post(`/api/v1/scripts/${id}/run`, { when_busy: 'queue' });
    const slot = { kind: 'slot', name: 'Import' };
    expect(queued.json).toMatchObject({ waiting: true, waiting_for: slot });
    const { items } = (await developer.get('/api/v1/runs?status=queued')).json;
    expect(items).toMatchObject([
      { run_id: queued.json.run_id, waiting_for: slot },
      { run_id: first, waiting_for: null },
    ]);
  });

  test('waits for a slot of a runtime if all suitable runtimes are full', async () => {
    const queue = new PostgresRunQueue(platform.pool);
    await startRuntime('plain', []);
    const first = await run(developer, (await script(developer)).id);
    expect(await waitingFor(first)).toBeNull();
    await queue.claim('plain', 1, 60);
    const second = await run(developer, (await script(developer)).id);
    expect(await waitingFor(first)).toBeNull();
    expect(await waitingFor(second)).toEqual({ kind: 'slot', name: 'runtime' });
    await startRuntime('other', ['gpu']);
    expect(await waitingFor(second)).toBeNull();
  });

  test('gives no reason for its wait while triggers are paused', async () => {
    await startRuntime('plain', []);
    const { id } = await script(developer);
    const runId = await run(developer, id);
    await platform.pool.query(`UPDATE runs SET trigger_type = 'schedule' WHERE run_id = $1`, [
      runId,
    ]);
    await platform.pool.query(`UPDATE run_queue SET waiting = true WHERE run_id = $1`, [runId]);
    await platform.admin.post('/api/v1/system/pause');
    expect(await waitingFor(runId)).toBeNull();
    await platform.admin.post('/api/v1/system/resume');
    expect(await waitingFor(runId)).toMatchObject({ kind: 'slot' });
  });
});

describe('a drained runtime', () => {
  const drainPath = '/api/v1/runtimes/one/drain';
  const runtimes = async () => (await developer.get('/api/v1/runtimes')).json.items as unknown[];

  test('claims nothing, finishes its runs, and claims again after it is resumed', async () => {
    const queue = new PostgresRunQueue(platform.pool);
    await startRuntime('one', ['gpu'], 2);
    await run(developer, (await script(developer)).id);
    expect(await queue.claim('one', 1, 60)).toHaveLength(1);
    expect(await runtimes()).toMatchObject([
      { id: 'one', state: 'active', labels: ['gpu'], slots: 2, active_runs: 1 },
    ]);
    expect((await platform.admin.post(drainPath)).status).toBe(204);
    expect(await runtimes()).toMatchObject([{ state: 'draining', active_runs: 1 }]);
    const waiting = await run(developer, (await script(developer, { runs_on: ['gpu'] })).id);
    expect(await queue.claim('one', 1, 60, ['gpu'])).toEqual([]);
    expect(await waitingFor(waiting)).toEqual({ kind: 'label', name: 'gpu' });
    await platform.pool.query(`DELETE FROM run_queue WHERE owner = 'one'`);
    // A restart does not end the drain.
    await removeRuntime(platform.pool, 'one');
    await startRuntime('one', ['gpu'], 2);
    expect(await runtimes()).toMatchObject([{ state: 'drained', active_runs: 0 }]);
    expect(await queue.claim('one', 1, 60, ['gpu'])).toEqual([]);
    expect((await platform.admin.delete(drainPath)).status).toBe(204);
    expect(await runtimes()).toMatchObject([{ state: 'active' }]);
    expect(await queue.claim('one', 1, 60, ['gpu'])).toMatchObject([{ runId: waiting }]);
  });

  test('is recorded with the administrator who drained it, and only administrators can drain it', async () => {
    await startRuntime('one', []);
    expect((await developer.post(drainPath)).status).toBe(403);
    await platform.admin.post(drainPath);
    await platform.admin.post(drainPath);
    const { rows } = await platform.pool.query(
      `SELECT type, data FROM events WHERE stream_id = 'runtime-one'`,
    );
    expect(rows).toEqual([{ type: 'RuntimeDrained', data: { runtimeId: 'one' } }]);
    const other = '/api/v1/runtimes/other/drain';
    expect((await platform.admin.post(other)).status).toBe(404);
  });
});
