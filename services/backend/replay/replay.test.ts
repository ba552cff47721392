// Long because all tests share one history, which takes seconds to create.
import type { Principal } from '#domain/kernel/actor.ts';
import { mustParse, parseUserId } from '#domain/kernel/ids.ts';
import { makeMarks, type Horizon } from '#infra/postgres/event-store/active-runs-at.ts';
import type { Moment } from '#infra/postgres/event-store/streams-at.ts';
import { withClient } from '#infra/testing/client.ts';
import { eventsVisible } from '#infra/testing/platform.ts';
import { asyncProjections, inlineProjections } from '#projections/registry.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  finishRun,
  groups,
  run,
  schedule,
  script,
  someone,
  startRun,
  webhook,
} from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';
import { replayDifferences, replayKinds, replayPage, type ReplayKind } from './platform-at.ts';

const badMoments = ['yesterday', '-1', '999999999', '2999-01-01T00:00:00Z', '2026-13-01T00:00:00Z'];
const { signal } = new AbortController();

let platform: TestBackend;
let admin: TestClient;
let auditor: TestClient;
let ids: Record<'bots' | 'custom' | 'schedule' | 'hook' | 'first' | 'second', string>;
/** Positions at the start, in the middle and at the end of the history. */
let at: Record<'empty' | 'busy' | 'over', number>;

beforeAll(async () => {
  platform = await startTestBackend();
  ({ admin } = platform);
  const seeded = await position();
  const { id: bots } = await script(admin, { name: 'Bot', group_id: groups.bots });
  const { id: custom } = await script(admin, { name: 'Other', max_concurrent_runs: 3 });
  const watching = { role: 'viewer', groupIds: [groups.bots], canAudit: true } as const;
  auditor = await someone(platform, watching);
  const [scheduleId, { id: hook }] = [await schedule(admin, bots), await webhook(admin, bots)];
  const [first, second] = [await run(admin, bots), await run(admin, custom)];
  const fence = await startRun(platform, first);
  await admin.post('/api/v1/system/pause');
  const busy = await position();
  await finishRun(platform, first, fence);
  await admin.post('/api/v1/system/resume');
  await admin.post(`/api/v1/runs/${second}/stop`);
  await admin.patch(`/api/v1/scripts/${bots}`, { name: 'Robot' });
  await admin.patch(`/api/v1/schedules/${scheduleId}`, { cron: '@hourly' });
  await admin.delete(`/api/v1/scripts/${custom}`);
  ids = { bots, custom, schedule: scheduleId, hook, first, second };
  at = { empty: seeded, busy, over: await position() };
});
afterAll(() => platform.close());

async function position(): Promise<number> {
  await eventsVisible(platform.pool);
  const { rows } = await platform.pool.query<{ last: number }>(
    'SELECT max(global_position) AS last FROM events',
  );
  return rows[0]?.last ?? 0;
}

async function back(path: string, client = admin) {
  const answer = await client.get(`/api/v1/replay${path}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

const namesOf = ({ items }: { items: readonly { name: string }[] }) =>
  items.map((item) => item.name);

describe('the replay of the platform', () => {
  test('shows which resources existed at a point in time, and the rights of each user', async () => {
    const then = await back(`?at=${at.busy}`);
    expect(then).toMatchObject({ at: String(at.busy), paused: true });
    expect(namesOf(then.scripts)).toEqual(['Bot', 'Other']);
    expect(namesOf(then.groups).toSorted()).toEqual(['ETL', 'bots', 'custom', 'monitoring']);
    expect(then.schedules.items).toMatchObject([
      { id: ids.schedule, script_id: ids.bots, kind: 'cron', cron: '@daily', version: 1 },
    ]);
    expect(then.webhooks.items).toMatchObject([{ id: ids.hook, script_id: ids.bots }]);
    const [administrator, viewer] = ['administrator', 'viewer'].map((role) =>
      then.users.items.find((user: { role: string }) => user.role === role),
    );
    expect(administrator.rights).toContain('users.manage');
    expect(viewer).toMatchObject({ role: 'viewer', group_ids: [groups.bots], can_audit: true });
    expect(viewer.rights).toContain('audit.read');
    expect(viewer.rights).not.toContain('scripts.write');
    expect(then.runs.items).toMatchObject([
      { run_id: ids.first, status: 'running', runtime_id: 'runtime-1', script_name: 'Bot' },
      { run_id: ids.second, status: 'queued', started_at: null, script_name: 'Other' },
    ]);
  });

  test('shows the latest state, and the state before the first event', async () => {
    const over = await back(`?at=${at.over}`);
    expect([namesOf(over.scripts), over.runs.items, over.paused]).toEqual([['Robot'], [], false]);
    const empty = await back(`?at=${at.empty}`);
    expect([empty.scripts.items, empty.users.items.length]).toEqual([[], 1]);
    const before = await back('?at=2001-01-01T00:00:00Z');
    for (const kind of Object.keys(replayKinds)) expect(before[kind].items).toEqual([]);
    expect((await back('')).scripts).toEqual(over.scripts);
  });

  test('accepts a time instead of a position', async () => {
    const { rows } = await platform.pool.query<{ time: Date }>(
      'SELECT recorded_at AS time FROM events WHERE global_position = $1',
      [at.over],
    );
    const time = rows[0]?.time.toISOString() ?? '';
    const { at: _, ...byTime } = await back(`?at=${time}`);
    const { at: _position, ...byPosition } = await back(`?at=${at.over}`);
    expect(byTime).toEqual(byPosition);
  });

  test.each(badMoments)('refuses the point in time %s with the reason', async (moment) => {
    const answer = await admin.get(`/api/v1/replay?at=${moment}`);
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter']);
  });

  test('is read page by page', async () => {
    const first = await back(`?at=${at.busy}&limit=1`);
    expect(namesOf(first.scripts)).toEqual(['Bot']);
    const cursor = `cursor=${first.scripts.next_cursor}`;
    const next = await back(`/scripts?at=${at.busy}&limit=1&${cursor}`);
    expect(namesOf(next)).toEqual(['Other']);
    const runs = await back(`/runs?at=${at.busy}&limit=1`);
    const rest = await back(`/runs?at=${at.busy}&limit=1&cursor=${runs.next_cursor}`);
    expect([runs.items[0].run_id, rest.items[0].run_id]).toEqual([ids.first, ids.second]);
    const foreign = await admin.get(`/api/v1/replay/scripts?at=${at.over}&limit=1&${cursor}`);
    expect([foreign.status, foreign.json.code]).toEqual([400, 'invalid_cursor']);
  });

  test('shows auditors of a group the resources that belonged to the group', async () => {
    const then = await back(`?at=${at.busy}`, auditor);
    expect([namesOf(then.scripts), namesOf(then.groups)]).toEqual([['Bot'], ['bots']]);
    expect(then.runs.items).toMatchObject([{ run_id: ids.first }]);
    expect(then.users.items).toHaveLength(2);
    const { items } = await back(`/diff?from=${at.busy}&to=${at.over}`, auditor);
    expect(items.some((item: { id: string }) => item.id === ids.custom)).toBe(false);
  });

  test('lists the differences between two points in time', async () => {
    const { items } = await back(`/diff?from=${at.busy}&to=${at.over}`);
    expect(items).toMatchObject([
      {
        kind: 'script',
        id: ids.bots,
        change: 'changed',
        fields: ['name', 'version'],
        before: { name: 'Bot' },
        after: { name: 'Robot' },
      },
      { kind: 'script', id: ids.custom, change: 'deleted', after: null },
      { kind: 'schedule', id: ids.schedule, change: 'changed', fields: ['cron', 'version'] },
    ]);
    const made = await back(`/diff?from=${at.empty}&to=${at.busy}&limit=2`);
    const rest = await back(
      `/diff?from=${at.empty}&to=${at.busy}&limit=200&cursor=${made.next_cursor}`,
    );
    const kinds = [...made.items, ...rest.items].map(({ kind, change }) => `${kind} ${change}`);
    expect(kinds).toEqual([
      'user created',
      'script created',
      'script created',
      'schedule created',
      'webhook created',
    ]);
    const backwards = await admin.get(`/api/v1/replay/diff?from=${at.over}&to=${at.busy}`);
    expect([backwards.status, backwards.json.code]).toEqual([400, 'invalid_parameter']);
  });
});

describe('resources that have changed', () => {
  let script_id: string;
  let made: Record<'schedules' | 'webhooks' | 'chains' | 'groups' | 'users', string>;
  let [before, after] = [0, 0];
  beforeAll(async () => {
    const { id: group } = (await admin.post('/api/v1/groups', { name: 'sums' })).json;
    script_id = (await script(admin, { name: 'Sum', group_id: group })).id;
    const { id: target } = await script(admin, { name: 'Target', group_id: group });
    const chained = { source_script_id: script_id, target_script_id: target, params: { n: 1 } };
    const member = await someone(platform, { role: 'viewer', groupIds: [group] });
    made = {
      schedules: await schedule(admin, script_id),
      webhooks: (await webhook(admin, script_id, { name: 'push' })).id,
      chains: (await admin.post('/api/v1/chains', chained)).json.id,
      groups: group,
      users: (await member.get('/api/v1/auth/me')).json.id,
    };
    before = await position();
    const changes = {
      [`scripts/${script_id}`]: { name: 'Total' },
      [`schedules/${made.schedules}`]: { enabled: false },
      [`webhooks/${made.webhooks}`]: { name: 'pull', signing: true },
      [`chains/${made.chains}`]: { on: 'any', params: { n: 2 } },
      [`groups/${made.groups}`]: { name: 'totals' },
      [`users/${made.users}`]: { name: 'Eve', role: 'operator' },
    };
    for (const [path, change] of Object.entries(changes)) {
      const answer = await admin.patch(`/api/v1/${path}`, change);
      expect(answer.status, answer.text).toBe(200);
    }
    after = await position();
  });

  /** The paths of reads that support a point in time, with the expected results before and after the changes. */
  const reads = [
    ['schedules', { enabled: true, script_name: 'Sum' }, { enabled: false, script_name: 'Total' }],
    ['webhooks', { name: 'push', signing: false }, { name: 'pull', signing: true }],
    [
      'chains',
      { on: 'success', params: { n: 1 }, source_script_name: 'Sum', target_script_name: 'Target' },
      { on: 'any', params: { n: 2 }, source_script_name: 'Total' },
    ],
    ['groups', { name: 'sums' }, { name: 'totals' }],
    ['users', { role: 'viewer' }, { role: 'operator', name: 'Eve' }],
  ] as const;
  /** Fields that the history does not contain. */
  const unknown = ['next_fire_at', 'last_fire_at', 'last_called_at', 'last_login_at'];

  describe.each(reads)('the history of %s', (kind, then, now) => {
    const one = async (query: string, client = admin) =>
      await client.get(`/api/v1/${kind}/${made[kind]}${query}`);
    const list = async (query: string, client = admin) =>
      await client.get(`/api/v1/${kind}${query}`);

    test('shows the list and each item as of the requested time, in the current format', async () => {
      const past = (await one(`?at=${before}`)).json;
      expect(past).toMatchObject(then);
      expect((await list(`?at=${before}`)).json.items).toContainEqual(past);
      const last = (await one(`?at=${after}`)).json;
      const present = (await one('')).json;
      const nulls = unknown.filter((name) => name in present).map((name) => [name, null]);
      expect(last).toEqual({ ...present, ...Object.fromEntries(nulls) });
      expect(last).toMatchObject(now);
    });

    test('is empty before the creation, and for users outside the groups', async () => {
      const early = await one('?at=2001-01-01T00:00:00Z');
      expect([early.status, early.json.code]).toEqual([404, 'not_found']);
      expect((await list('?at=2001-01-01T00:00:00Z')).json.items).toEqual([]);
      const other = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
      const member = await someone(platform, { role: 'developer', groupIds: [made.groups] });
      const isForAll = kind !== 'users';
      expect((await one(`?at=${before}`, other)).status).toBe(isForAll ? 404 : 403);
      expect((await list(`?at=${before}`, other)).text).not.toContain(made[kind]);
      expect((await one(`?at=${before}`, member)).status).toBe(isForAll ? 200 : 403);
    });

    test.each(badMoments)('refuses the point in time %s with the reason', async (moment) => {
      for (const answer of [await one(`?at=${moment}`), await list(`?at=${moment}`)]) {
        expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter']);
      }
    });
  });

  test('include a chain only for users who can see both groups', async () => {
    const { id: hidden } = await script(admin, { name: 'Hidden' });
    const chained = { source_script_id: script_id, target_script_id: hidden };
    const { id } = (await admin.post('/api/v1/chains', chained)).json;
    const at = await position();
    const member = await someone(platform, { role: 'developer', groupIds: [made.groups] });
    const both = await someone(platform, {
      role: 'developer',
      groupIds: [made.groups, groups.custom],
    });
    for (const [client, status] of [
      [member, 404],
      [both, 200],
    ] as const) {
      expect((await client.get(`/api/v1/chains/${id}?at=${at}`)).status).toBe(status);
      const { text } = await client.get(`/api/v1/chains?at=${at}`);
      expect(text.includes(hidden)).toBe(status === 200);
    }
    await admin.delete(`/api/v1/scripts/${hidden}`);
    const gone = await position();
    expect((await admin.get(`/api/v1/chains/${id}?at=${gone}`)).status).toBe(404);
    expect((await admin.get(`/api/v1/chains/${id}?at=${at}`)).status).toBe(200);
  });

  test('can be filtered and read page by page', async () => {
    const chains = (query: string) => admin.get(`/api/v1/chains?at=${before}&${query}`);
    expect((await chains(`source_script_id=${script_id}`)).json.items).toHaveLength(1);
    expect((await chains(`target_script_id=${script_id}`)).json.items).toEqual([]);
    const page = `at=${before}&limit=3`;
    const first = (await admin.get(`/api/v1/groups?${page}`)).json;
    const next = `${page}&cursor=${first.next_cursor}`;
    const rest = (await admin.get(`/api/v1/groups?${next}`)).json;
    const all = ['monitoring', 'bots', 'ETL', 'custom', 'sums'];
    expect(namesOf({ items: [...first.items, ...rest.items] })).toEqual(all);
    const foreign = await admin.get(`/api/v1/users?${next}`);
    expect([foreign.status, foreign.json.code]).toEqual([400, 'invalid_cursor']);
  });
});

describe('the event history without read models', () => {
  const principal: Principal = {
    userId: mustParse(parseUserId, '00000000-0000-7000-8000-000000000001'),
    email: 'admin@example.com',
    name: 'Admin',
    role: 'administrator',
    groupIds: [],
    canAudit: false,
  };
  const everything = async () => {
    const { pool } = platform;
    const points = Object.values(at).map((one): Moment => ({ kind: 'position', position: one }));
    const seen = [];
    for (const moment of points) {
      for (const kind of Object.keys(replayKinds) as ReplayKind[]) {
        seen.push(await replayPage(pool, kind, { principal, moment, limit: 50 }));
      }
    }
    const [first, , last] = points as [Moment, Moment, Moment];
    const page = { after: undefined, limit: 200 };
    return [...seen, await replayDifferences(pool, principal, [first, last], page)];
  };

  test('gives the same results with intermediate snapshots', async () => {
    const before = await everything();
    const marks = async () => {
      const { rows } = await platform.pool.query<{ active: readonly string[] }>(
        'SELECT active FROM replay_marks ORDER BY position',
      );
      return rows;
    };
    // Waits repeatedly, because an open transaction of another test on this server delays the visibility of events.
    let horizon: Horizon | undefined;
    let rows = await marks();
    for (let round = 0; round < 3 || rows.length < 3; round += 1) {
      await eventsVisible(platform.pool);
      horizon = await makeMarks(platform.pool, horizon, signal, 5);
      rows = await marks();
    }
    expect(rows.some(({ active }) => active.includes(`run-${ids.first}`))).toBe(true);
    expect(rows.at(-1)?.active).toEqual([]);
    expect(await everything()).toEqual(before);
  });

  test('gives the same responses with empty read tables', async () => {
    const before = await everything();
    expect(JSON.stringify(before)).toContain('Robot');
    const tables = [...inlineProjections, ...asyncProjections].flatMap(({ tables: own }) => own);
    await withClient(platform.adminUrl, (client) =>
      client.query(`TRUNCATE ${[...tables, 'snapshots', 'replay_marks'].join(', ')} CASCADE`),
    );
    expect(await everything()).toEqual(before);
  });
});
