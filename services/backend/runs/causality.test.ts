import { mustParse, parseNoticeId, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import { noTotals } from '#domain/run/run.ts';
import { storeChainedInput } from '#infra/postgres/event-store/chained-input.ts';
import { Reactor } from '#infra/postgres/readers/reactor.ts';
import { reactions } from '#domain/reactions/registry.ts';
import { eventsVisible } from '#infra/testing/platform.ts';
import { reactionReads } from '#projections/reaction-reads.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeTrail } from '../testing/audit-trail.ts';
import {
  asRuntime,
  chain,
  finishRun,
  groups,
  run,
  script,
  someone,
  startRun,
  webhook,
} from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

const { signal } = new AbortController();
let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

async function react(): Promise<void> {
  const { services, pool } = platform;
  await eventsVisible(pool);
  const { commands, ids, readModels } = services;
  const reads = reactionReads(readModels, (id) => storeChainedInput(pool, id));
  await new Reactor({ pool, commands, ids, reactions, reads }).runOnce(signal);
}

async function fail(id: string): Promise<void> {
  const runId = mustParse(parseRunId, id);
  const fence = await startRun(platform, id);
  const end = { outcome: 'exit_code', exitCode: 1, signal: null, totals: noTotals } as const;
  await asRuntime(platform, { type: 'FinishRun', runId, fence, ...end });
}

test('a webhook call is linked to the failed run, and to the run that the failure triggered', async () => {
  const { admin } = platform;
  const { id: source } = await script(admin, { name: 'Source' });
  const { id: target } = await script(admin, { name: 'Target' });
  const body = { source_script_id: source, target_script_id: target, on: 'any' };
  const link = (await admin.post('/api/v1/chains', body)).json;
  const hook = await webhook(admin, source);
  await react(); // The reactor starts here and reacts only to later events.
  const called = await platform.anonymous.post(`/hooks/${hook.token}`, { push: true });
  expect(called.status, called.text).toBe(202);
  const first = called.json.run_id as string;
  await fail(first);
  await asRuntime(platform, {
    type: 'PostNotice',
    noticeId: mustParse(parseNoticeId, '01900000-0000-7000-8000-00000000aaaa'),
    runId: mustParse(parseRunId, first),
    scriptId: mustParse(parseScriptId, source),
    level: 'error',
    message: 'It broke.',
  });
  await react();
  await writeTrail(platform);
  const trace = async (id: string, client = admin) => {
    const answer = await client.get(`/api/v1/runs/${id}/causes`);
    expect(answer.status, answer.text).toBe(200);
    return answer.json;
  };

  const down = await trace(first);
  expect(down.causes).toMatchObject([{ run_id: first, webhook_id: hook.id }]);
  const queued = down.effects.find((one: { action: string }) => one.action === 'run_queued');
  expect(queued).toMatchObject({ depth: 1, caused_by: `run-${first}`, script_id: target });
  expect(queued.script_name).toBe('Target');
  expect(down.effects.map((one: { action: string }) => one.action)).toContain('notice_posted');

  const second = (queued.resource as string).slice('run-'.length);
  const up = await trace(second);
  expect(up.causes).toMatchObject([
    { run_id: second, script_name: 'Target', chain_id: link.id, trigger_type: 'event' },
    { run_id: first, script_name: 'Source', webhook_id: hook.id, trigger_type: 'webhook' },
  ]);

  const outsider = await someone(platform, { role: 'viewer', groupIds: [groups.bots] });
  expect((await outsider.get(`/api/v1/runs/${second}/causes`)).status).toBe(404);
});

test('a chain of another group that started no run is hidden', async () => {
  const { admin } = platform;
  const { id: source } = await script(admin);
  const { id: target } = await script(admin, { name: 'Elsewhere', group_id: groups.bots });
  await chain(admin, source, target);
  await admin.post(`/api/v1/scripts/${target}/disable`);
  const runId = await run(admin, source);
  await finishRun(platform, runId, await startRun(platform, runId));
  await react();
  await writeTrail(platform);
  const colleague = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
  const told = async (client: typeof admin) =>
    (await client.get(`/api/v1/runs/${runId}/causes`)).json.effects;
  expect(await told(admin)).toMatchObject([
    { action: 'chain_skipped', script_id: target, script_name: 'Elsewhere' },
  ]);
  expect(await told(colleague)).toMatchObject([
    { action: 'chain_skipped', script_id: null, script_name: null },
  ]);
});

test('the runs of a chain and their retries form one timeline with a critical path', async () => {
  const { admin } = platform;
  const retry = { max_attempts: 2, backoff_seconds: 1 };
  const { id: source } = await script(admin, { name: 'Extract' });
  const { id: target } = await script(admin, { name: 'Load', retry });
  const { id: other } = await script(admin, { name: 'Mail', group_id: groups.bots });
  await chain(admin, source, target);
  await chain(admin, source, other);
  await react(); // The reactor starts here and reacts only to later events.
  const first = await run(admin, source);
  await finishRun(platform, first, await startRun(platform, first));
  await react();
  const timeline = async (id: string, client = admin) => {
    const answer = await client.get(`/api/v1/runs/${id}/timeline`);
    expect(answer.status, answer.text).toBe(200);
    return (answer.json as { items: { run_id: string; script_name: string; relation: string }[] })
      .items;
  };
  const idOf = async (name: string) =>
    (await timeline(first)).find((one) => one.script_name === name)?.run_id ?? '';
  const mail = await idOf('Mail');
  await finishRun(platform, mail, await startRun(platform, mail));
  const load = await idOf('Load');
  await fail(load);
  await react();

  const shown = await timeline(load);
  expect(shown).toHaveLength(4);
  expect(shown[0]).toMatchObject({ run_id: first, relation: null, critical: true });
  expect(shown[3]).toMatchObject({
    script_id: target,
    relation: 'retry',
    cause_run_id: load,
    attempt: 2,
    critical: true,
  });
  expect(shown.find((one) => one.run_id === load)).toMatchObject({
    relation: 'chain',
    status: 'failed',
    critical: true,
  });
  expect(shown.find((one) => one.run_id === mail)).toMatchObject({ critical: false });
  expect(await timeline(mail)).toEqual(shown);
  const colleague = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
  expect((await timeline(load, colleague)).map((one) => one.script_name)).not.toContain('Mail');
});
