/** Compares responses before and after dropping and rebuilding all read models, with data of each kind. */
import { openDatabase } from '#infra/postgres/database.ts';
import { Projector } from '#infra/postgres/readers/projector.ts';
import { rebuildProjection } from '#infra/postgres/rebuild/rebuild.ts';
import { eventsVisible } from '#infra/testing/platform.ts';
import { asyncProjections, inlineProjections } from '#projections/registry.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formsOf, type Operation } from './http/operation.ts';
import { operations } from './operations.ts';
import {
  channel,
  delivery,
  finishRun,
  groups,
  notice,
  backup,
  notificationRule,
  run,
  someone,
  startRun,
  writeLines,
} from './testing/people.ts';
import { startTestBackend, type TestBackend } from './testing/test-backend.ts';
import type { TestClient } from './testing/test-client.ts';

const { signal } = new AbortController();
const later = new Date(Date.now() + 3_600_000).toISOString();
/** Fixes the trace ID, which refusals contain. */
const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;

let platform: TestBackend;
let people: readonly TestClient[];
beforeAll(async () => {
  platform = await startTestBackend();
  const developer = { role: 'developer', groupIds: [groups.custom, groups.bots] } as const;
  people = [platform.admin, await someone(platform, developer)];
});
afterAll(() => platform.close());

/** Sends a request that must succeed. @returns its response */
async function done(method: string, path: string, body?: unknown) {
  const answer = await platform.admin.sendJson(method, `/api/v1${path}`, body);
  expect(answer.status, `${method} ${path} ${answer.text}`).toBeLessThan(300);
  return answer.text === '' ? undefined : answer.json;
}

const newScript = async (body: object) => (await done('POST', '/scripts', body)).id as string;

/** Creates scripts with each kind of change.
 *  @returns their IDs */
async function liveWithScripts(): Promise<readonly string[]> {
  const settings = { description: 'Every "kind" of \\ text', tags: ['a', 'b'], python: '3' };
  const one = await newScript({ name: 'Report', ...settings, max_concurrent_runs: 5 });
  const bot = await newScript({ name: 'Bot', group_id: groups.bots, template: 'chat-bot' });
  const gone = await newScript({ name: 'Gone', template: 'etl-job' });
  const back = await newScript({ name: 'Back' });
  await platform.admin.putBytes(`/api/v1/scripts/${one}/files/lib/a.py`, 'x = 1\n');
  await platform.admin.putBytes(`/api/v1/scripts/${one}/files/lib/a.py`, 'x = 2\n');
  await done('POST', `/scripts/${one}/files/lib/a.py/move`, { to: 'lib/b.py' });
  const retry = { max_attempts: 3, backoff_seconds: 1, backoff_factor: 2, max_backoff_seconds: 9 };
  await done('PATCH', `/scripts/${one}`, {
    retry,
    environment: { A: 'b' },
    limits: { processes: 9 },
  });
  await done('PUT', `/scripts/${one}/secrets/TOKEN`, { value: 'hidden', as_environment: true });
  await done('POST', `/scripts/${one}/environment/rebuild`);
  await done('POST', `/scripts/${bot}/disable`);
  await done('DELETE', `/scripts/${gone}`);
  await done('DELETE', `/scripts/${back}`);
  await done('POST', `/scripts/${back}/undelete`);
  const copied = await done('POST', `/scripts/${one}/copy`, {});
  return [one, bot, gone, back, copied.id];
}

/** Creates runs in each state.
 *  @returns their IDs */
async function liveWithRuns(scriptId: string): Promise<readonly string[]> {
  const given = await done('POST', `/runs/scripts/${scriptId}/run`, { params: { a: ['b', 1] } });
  const [ended, running, stopped] = [
    given.run_id,
    await run(platform.admin, scriptId),
    await run(platform.admin, scriptId),
  ];
  const fence = await startRun(platform, ended);
  await writeLines(platform, ended, 1, ['one', 'two']);
  await finishRun(platform, ended, fence);
  await startRun(platform, running);
  await done('POST', `/runs/${stopped}/stop`);
  const again = await done('POST', `/runs/${ended}/rerun`, { version: 'same' });
  return [ended, running, stopped, again.run_id];
}

/** The paths of all GET operations that show recorded data, for these resources. */
function questions(ids: Readonly<Record<string, readonly string[]>>): readonly string[] {
  // Skips operations that show the uptime of the process or due times in the future.
  const ofNow = ['/api/v1/system/info', '/api/v1/dashboard/fires'];
  const isAsked = (one: Operation) =>
    one.method === 'get' &&
    one.path.startsWith('/api/v1/') &&
    one.access !== 'public' &&
    !ofNow.includes(one.path);
  return operations.filter(isAsked).flatMap((one) =>
    formsOf(one)
      .filter(({ method }) => method === 'get')
      .flatMap(({ path }) => {
        let paths = [path];
        for (const [name, { stream }] of Object.entries(one.parameters ?? {})) {
          const values = ids[stream ?? name] ?? [];
          paths = paths.flatMap((each) => values.map((value) => each.replace(`{${name}}`, value)));
        }
        // Fixes the end of the time range, which is the current time by default.
        const isOverTime = JSON.stringify(one.query ?? {}).includes('"bucket"');
        // Omits upcoming due times, which are counted from the current time.
        const isOverview = one.operationId === 'dashboardOverview' ? '&fires=false' : '';
        if (isOverTime) return paths.map((each) => `${each}?to=${later}${isOverview}`);
        const isReplay = one.path.startsWith('/api/v1/replay');
        const until = one.operationId === 'replayDifferences' ? 'to' : 'at';
        if (isReplay) return paths.map((each) => `${each}?${until}=40`);
        const isList = JSON.stringify(one.query ?? {}).includes('"limit"');
        return isList ? paths.flatMap((each) => [each, `${each}?limit=1`]) : paths;
      }),
  );
}

async function answersTo(asked: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  for (const [index, person] of people.entries()) {
    for (const path of asked) {
      const { status, headers, text } = await person.with({ traceparent }).get(path);
      answers.set(`${index} ${path}`, `${status} ${headers.get('etag')} ${text}`);
    }
  }
  return answers;
}

async function settle(): Promise<void> {
  await platform.backend.settle();
  await eventsVisible(platform.pool);
  await new Projector(platform.pool, asyncProjections).runOnce(signal);
}

test('rebuilt read models return the same responses', async () => {
  const scripts = await liveWithScripts();
  const runs = await liveWithRuns(scripts[0] ?? '');
  await notice(platform, scripts[0] ?? '');
  const channelId = await channel(platform.admin);
  const ruleId = await notificationRule(platform.admin, channelId);
  const backupId = await backup(platform);
  await done('PUT', '/backups/schedule', { cron: '0 3 * * *', keep: 3 });
  const deliveryId = await delivery(platform.admin, channelId);
  await done('PATCH', `/notifications/channels/${channelId}`, { name: 'changed' });
  await done('PATCH', `/notifications/rules/${ruleId}`, { enabled: false });
  await done('POST', '/notifications/read-all');
  await notice(platform, scripts[0] ?? '', { on: 'failed', level: 'error' });
  const asked = questions({
    script: scripts,
    run: runs,
    path: ['main.py', 'lib/b.py'],
    name: ['TOKEN'],
    channel: [channelId],
    rule: [ruleId],
    backup: [backupId],
    delivery: [deliveryId],
  });
  expect(asked.length).toBeGreaterThan(60);
  await settle();
  const expected = await answersTo(asked);
  // The refused requests of this test are recorded, too.
  await settle();
  const audited = await platform.admin.get('/api/v1/audit?limit=200');

  const owner = openDatabase(platform.adminUrl, {
    connections: 2,
    applicationName: 'rebuild',
    onIdleError: () => undefined,
  });
  try {
    const all = [...inlineProjections, ...asyncProjections];
    for (const table of all.flatMap((one) => one.tables)) {
      await owner.pool.query(`TRUNCATE ${table}`);
    }
    expect((await platform.admin.get('/api/v1/scripts')).status).toBe(401);
    for (const projection of all) {
      const kind = inlineProjections.includes(projection) ? 'inline' : 'async';
      await rebuildProjection({ pool: owner.pool, projection, kind });
    }
  } finally {
    await owner.close();
  }
  const isHistory = (path: string) => path.includes('/audit');
  const after = await answersTo(asked);
  for (const [path, answer] of expected) {
    if (!isHistory(path)) expect(`${path} ${after.get(path)}`).toBe(`${path} ${answer}`);
  }
  const audit = audited.json.items as readonly unknown[];
  const newer = (await platform.admin.get('/api/v1/audit?limit=200')).json
    .items as readonly unknown[];
  expect(newer.slice(-audit.length)).toEqual(audit);
});
