import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import { PostgresRunQueue } from '#infra/postgres/queue/run-queue.ts';
import { systemIds } from '#infra/system/ids.ts';
import { expireApprovals } from '#services/scheduler/approvals.ts';
import { releaseWaitingRuns } from '#services/scheduler/waiting-runs.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { apiToken, groups, run, script, someone, webhook } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
let operator: TestClient;
let scriptId: string;
beforeEach(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
  operator = await someone(platform, { role: 'operator', groupIds: [groups.custom] });
  ({ id: scriptId } = await script(platform.admin, {
    name: 'Payout',
    group_id: groups.custom,
    protected: { run: true },
  }));
});
afterEach(() => platform.close());

const path = (id: string, action = '') => `/api/v1/approvals/${id}${action}`;
const statusOf = async (id: string) => (await developer.get(path(id))).json.status as unknown;

async function claimable(): Promise<readonly string[]> {
  const { commands, readModels: reads } = platform.services;
  await releaseWaitingRuns({ commands, reads, ids: systemIds });
  const claimed = await new PostgresRunQueue(platform.pool).claim('runtime', 9, 60);
  return claimed.map(({ runId }) => runId);
}

describe('a requested run of a protected script', () => {
  test('waits for an approval, and then starts at the requested version', async () => {
    const id = await run(developer, scriptId);
    expect((await developer.get(`/api/v1/runs/${id}`)).json).toMatchObject({
      status: 'queued',
      waiting: true,
      waiting_for: { kind: 'approval', name: 'Payout' },
    });
    expect(await claimable()).toEqual([]);
    const { items } = (await operator.get('/api/v1/approvals?status=pending')).json;
    expect(items).toMatchObject([
      {
        id,
        kind: 'run',
        subject: { run_id: id, script_id: scriptId, script_name: 'Payout', script_version: 1 },
        requested_by: expect.stringMatching(/^developer/),
        status: 'pending',
        decided_by: null,
        can_decide: true,
      },
    ]);
    const edit = { content: 'print(2)\n' };
    await developer.put(`/api/v1/scripts/${scriptId}/files/main.py`, edit);
    const approved = await operator.post(path(id, '/approve'));
    expect([approved.status, approved.json]).toMatchObject([
      200,
      { status: 'approved', decided_by: expect.stringMatching(/^operator/), can_decide: false },
    ]);
    expect((await operator.post(path(id, '/approve'))).status).toBe(200);
    expect(await claimable()).toEqual([id]);
    expect((await developer.get(`/api/v1/runs/${id}`)).json).toMatchObject({ script_version: 1 });
    const decisions = (await developer.get(`/api/v1/runs/${id}/why`)).json.items as object[];
    expect(decisions).toMatchObject([
      { decision: 'held' },
      { decision: 'approval_requested' },
      { decision: 'approved' },
      { decision: 'released' },
    ]);
  });

  test('ends as stopped if it is rejected', async () => {
    const id = await run(developer, scriptId);
    expect((await operator.post(path(id, '/reject'))).json).toMatchObject({ status: 'rejected' });
    expect((await developer.get(`/api/v1/runs/${id}`)).json).toMatchObject({ status: 'stopped' });
    const late = await operator.post(path(id, '/approve'));
    expect([late.status, late.json.code]).toEqual([409, 'approval_not_pending']);
  });

  test('cannot be approved by its requester, by an API token or by other groups', async () => {
    const id = await run(developer, scriptId);
    const own = await developer.post(path(id, '/approve'));
    expect([own.status, own.json.detail]).toEqual([403, expect.stringMatching(/^You requested/)]);
    expect((await developer.get(path(id))).json.can_decide).toBe(false);
    const { client: token } = await apiToken(operator, ['*']);
    expect((await token.post(path(id, '/approve'))).status).toBe(403);
    expect((await token.get(path(id))).json.can_decide).toBe(false);
    const foreign = await someone(platform, { role: 'developer', groupIds: [groups.bots] });
    expect((await foreign.post(path(id, '/approve'))).status).toBe(404);
    const viewer = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
    expect((await viewer.post(path(id, '/approve'))).status).toBe(403);
    expect(await statusOf(id)).toBe('pending');
  });

  test('can be withdrawn by its requester, and is withdrawn when it is stopped or its script is disabled', async () => {
    const first = await run(developer, scriptId);
    const withdrawn = await developer.post(path(first, '/reject'));
    expect(withdrawn.json).toMatchObject({ status: 'withdrawn' });
    const second = await run(developer, scriptId);
    await developer.post(`/api/v1/runs/${second}/stop`);
    expect(await statusOf(second)).toBe('withdrawn');
    const third = await run(developer, scriptId);
    await developer.post(`/api/v1/scripts/${scriptId}/disable`);
    const disabled = await operator.post(path(third, '/approve'));
    expect([disabled.status, disabled.json.code]).toEqual([409, 'script_disabled']);
  });

  test('can be approved by its requester only if no other user can approve it', async () => {
    const { items } = (await platform.admin.get('/api/v1/users')).json;
    for (const { id, email } of items as { id: string; email: string }[]) {
      if (/^(developer|operator)/.test(email)) {
        await platform.admin.patch(`/api/v1/users/${id}`, { disabled: true });
      }
    }
    const id = await run(platform.admin, scriptId);
    expect((await platform.admin.get(path(id))).json.can_decide).toBe(true);
    expect((await platform.admin.post(path(id, '/approve'))).status).toBe(200);
  });

  test('expires, and cannot be approved or rejected afterwards', async () => {
    const id = await run(developer, scriptId);
    const { commands, readModels: reads } = platform.services;
    const inDays = (days: number) => {
      const clock = { now: () => new Date(Date.now() + days * 24 * 3600_000) };
      return expireApprovals({ reads, commands, ids: systemIds, clock });
    };
    await inDays(6);
    expect(await statusOf(id)).toBe('pending');
    await Promise.all([inDays(8), inDays(8)]);
    expect(await statusOf(id)).toBe('expired');
    expect((await developer.get(`/api/v1/runs/${id}`)).json).toMatchObject({ status: 'stopped' });
  });

  test('can expire in the queue only after the approval', async () => {
    await platform.admin.patch(`/api/v1/scripts/${scriptId}`, { limits: { queue_seconds: 60 } });
    const id = await run(developer, scriptId);
    await platform.pool.query(
      `UPDATE run_queue SET available_at = available_at - interval '1 day',
        expires_at = expires_at - interval '1 day'`,
    );
    const queue = new PostgresRunQueue(platform.pool);
    expect(await queue.expired(9)).toEqual([]);
    await operator.post(path(id, '/approve'));
    expect(await queue.expired(9)).toEqual([]);
    const { rows } = await platform.pool.query<{ left: number }>(
      `SELECT extract(epoch FROM expires_at - now())::float8 AS left FROM run_queue WHERE run_id = $1`,
      [mustParse(parseRunId, id)],
    );
    expect(rows[0]?.left).toBeGreaterThan(30);
  });

  test('can be approved or rejected only by administrators if a webhook requested it', async () => {
    const { token } = await webhook(developer, scriptId);
    const called = await platform.anonymous.send('POST', `/hooks/${token}`, 'x');
    const id = called.json.run_id as string;
    expect((await operator.get(path(id))).json.can_decide).toBe(false);
    expect((await operator.post(path(id, '/approve'))).status).toBe(403);
    expect((await platform.admin.post(path(id, '/approve'))).status).toBe(200);
  });

  test('does not block other waiting runs', async () => {
    await run(developer, scriptId);
    await platform.admin.patch(`/api/v1/scripts/${scriptId}`, { protected: { run: false } });
    const next = await run(developer, scriptId);
    expect(await claimable()).toEqual([next]);
  });
});

describe('a protected script', () => {
  test('can be created or unprotected only by administrators', async () => {
    const at = `/api/v1/scripts/${scriptId}`;
    const off = await developer.patch(at, { protected: { run: false } });
    expect([off.status, off.json.code]).toEqual([403, 'forbidden']);
    expect((await developer.patch(at, { description: 'Pays.' })).status).toBe(200);
    expect((await developer.patch(at, { protected: { run: true } })).status).toBe(200);
    const made = await developer.post('/api/v1/scripts', { name: 'Own', protected: { run: true } });
    expect(made.status).toBe(403);
    const { client: token } = await apiToken(platform.admin, ['scripts:write']);
    expect((await token.patch(at, { protected: { run: false } })).status).toBe(403);
    expect((await developer.patch(at, { protected: { save: true } })).status).toBe(403);
  });

  test('can be scheduled and chained only by administrators', async () => {
    const daily = { script_id: scriptId, cron: '@daily' };
    expect((await developer.post('/api/v1/schedules', daily)).status).toBe(403);
    const { id: scheduleId } = (await platform.admin.post('/api/v1/schedules', daily)).json;
    const schedule = `/api/v1/schedules/${scheduleId}`;
    expect((await developer.patch(schedule, { cron: '@hourly' })).status).toBe(403);
    expect((await developer.patch(schedule, { enabled: false })).status).toBe(200);
    expect((await developer.patch(schedule, { enabled: true })).status).toBe(403);
    const { id: source } = await script(developer, {});
    const link = { source_script_id: source, target_script_id: scriptId };
    expect((await developer.post('/api/v1/chains', link)).status).toBe(403);
    const { id: chainId } = (await platform.admin.post('/api/v1/chains', link)).json;
    expect((await developer.patch(`/api/v1/chains/${chainId}`, { on: 'any' })).status).toBe(403);
    expect((await developer.patch(`/api/v1/chains/${chainId}`, { enabled: false })).status).toBe(
      200,
    );
    const { id: other } = await script(developer, {});
    const elsewhere = { source_script_id: source, target_script_id: other };
    const { id: own } = (await developer.post('/api/v1/chains', elsewhere)).json;
    const moved = await developer.patch(`/api/v1/chains/${own}`, { target_script_id: scriptId });
    expect(moved.status).toBe(403);
    const at = `/api/v1/scripts/${scriptId}`;
    expect((await developer.patch(at, { keep_alive: true })).status).toBe(403);
    expect((await platform.admin.patch(at, { keep_alive: true })).status).toBe(200);
    expect((await developer.post(`${at}/copy`)).status).toBe(403);
  });
});
