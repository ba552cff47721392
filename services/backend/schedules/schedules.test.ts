// Long because the tests share one backend, which takes seconds to start.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  finishRun,
  groups,
  nowhere,
  run,
  schedule,
  script,
  someone,
  startRun,
} from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

const now = new Date('2026-03-28T12:00:00Z');
let platform: TestBackend;
let scriptId: string;
beforeAll(async () => {
  platform = await startTestBackend({ clock: { now: () => now } });
  ({ id: scriptId } = await script(platform.admin));
});
afterAll(() => platform.close());

const all = '/api/v1/schedules';
const at = (id: string) => `${all}/${id}`;
const create = (body: object) => platform.admin.post(all, { script_id: scriptId, ...body });

describe('a script', () => {
  test('gets the requested schedule', async () => {
    const params = { limit: 3 };
    const made = await create({ cron: '30 2 * * *', timezone: 'Europe/Berlin', params });
    expect([made.status, made.headers.get('etag')]).toEqual([201, '"1"']);
    expect(made.headers.get('location')).toBe(at(made.json.id));
    expect(made.json).toEqual({
      id: expect.any(String),
      script_id: scriptId,
      script_name: 'A script',
      name: null,
      kind: 'cron',
      cron: '30 2 * * *',
      timezone: 'Europe/Berlin',
      interval_seconds: null,
      once_at: null,
      calendar_id: null,
      start_at: null,
      end_at: null,
      enabled: true,
      catch_up: 'last',
      max_lateness_seconds: 3600,
      overlap: 'skip',
      params,
      next_fire_at: expect.any(String),
      last_fire_at: null,
      version: 1,
      created_at: expect.any(String),
      created_by: 'admin@example.com',
      updated_at: expect.any(String),
      updated_by: 'admin@example.com',
    });
    expect((await platform.admin.get(at(made.json.id))).json).toEqual(made.json);
  });

  test('gets only one schedule if an idempotency key is repeated', async () => {
    const keyed = platform.admin.with({ 'Idempotency-Key': 'schedule-1' });
    const body = { script_id: scriptId, interval_seconds: 60 };
    const [one, other] = [await keyed.post(all, body), await keyed.post(all, body)];
    expect([one.status, other.status, other.json.id]).toEqual([201, 201, one.json.id]);
  });

  test.each([
    ['/cron', { cron: '61 * * * *' }],
    ['/cron', { cron: '* * * *' }],
    ['/cron', { cron: '0 0 31 2 *' }],
    ['/cron', {}],
    ['/cron', { kind: 'interval', cron: '@daily', interval_seconds: 5 }],
    ['/timezone', { cron: '@daily', timezone: 'Mars/Olympus' }],
    ['/interval_seconds', { interval_seconds: 0 }],
    ['/interval_seconds', { kind: 'interval' }],
    ['/interval_seconds', { cron: '@daily', interval_seconds: 5 }],
    ['/start_at', { cron: '@daily', start_at: 'soon' }],
    [
      '/end_at',
      { cron: '@daily', start_at: '2026-02-01T00:00:00Z', end_at: '2026-01-01T00:00:00Z' },
    ],
    ['/overlap', { cron: '@daily', overlap: 'perhaps' }],
    ['/script_id', { cron: '@daily', script_id: nowhere }],
  ])('cannot get a schedule with an invalid %s: %j', async (pointer, body) => {
    const { status, json } = await create(body);
    expect([status, json.code]).toEqual([422, 'validation_failed']);
    expect(json.errors[0].pointer).toBe(pointer);
  });

  test('validates the parameters of a schedule against its schema', async () => {
    const parameters_schema = { type: 'object', properties: { limit: { type: 'integer' } } };
    const { id } = await script(platform.admin, { parameters_schema });
    const wrong = { script_id: id, cron: '@daily', params: { limit: 'many' } };
    const { status, json } = await platform.admin.post(all, wrong);
    expect([status, json.errors[0].pointer]).toEqual([422, '/params/limit']);
  });
});

describe('a schedule', () => {
  test('keeps the settings that a change omits', async () => {
    const id = await schedule(platform.admin, scriptId, { cron: '@daily', params: { a: 1 } });
    const changed = await platform.admin.patch(at(id), { interval_seconds: 90, overlap: 'queue' });
    expect(changed.status, changed.text).toBe(200);
    expect(changed.json).toMatchObject({
      kind: 'interval',
      cron: null,
      interval_seconds: 90,
      overlap: 'queue',
      params: { a: 1 },
      version: 2,
    });
    const off = await platform.admin.patch(at(id), { enabled: false, params: null });
    expect(off.json).toMatchObject({ next_fire_at: null, params: null, version: 3 });
  });

  test('can be named and unnamed without a change to its due times', async () => {
    const id = await schedule(platform.admin, scriptId, {
      interval_seconds: 3600,
      name: ' Hourly ',
    });
    const before = (await platform.admin.get(at(id))).json;
    expect(before.name).toBe('Hourly');
    // Moves the start of the interval into the past, to detect whether renaming the schedule restarts it.
    await platform.pool.query(
      `UPDATE schedules SET counted_from = counted_from - interval '10 minutes' WHERE schedule_id = $1`,
      [id],
    );
    const countedFrom = async () => {
      const text = 'SELECT counted_from, next_fire_at FROM schedules WHERE schedule_id = $1';
      return (await platform.pool.query<object>(text, [id])).rows;
    };
    const counted = await countedFrom();
    const renamed = await platform.admin.patch(at(id), { name: 'Every hour' });
    expect(renamed.json).toMatchObject({ name: 'Every hour', version: 2 });
    expect(await countedFrom()).toEqual(counted);
    const unnamed = await platform.admin.patch(at(id), { name: null, interval_seconds: 60 });
    expect(unnamed.json).toMatchObject({ name: null, version: 3 });
    expect(await countedFrom()).not.toEqual(counted);
  });

  test('refuses a write with an outdated version', async () => {
    const id = await schedule(platform.admin, scriptId);
    const stale = platform.admin.with({ 'If-Match': '"1"' });
    expect((await stale.patch(at(id), { cron: '@hourly' })).status).toBe(200);
    expect((await stale.patch(at(id), { cron: '@weekly' })).status).toBe(412);
    expect((await stale.delete(at(id))).status).toBe(412);
  });

  test('keeps its occurrences after deletion', async () => {
    const id = await schedule(platform.admin, scriptId);
    expect((await platform.admin.delete(at(id))).status).toBe(204);
    expect((await platform.admin.get(at(id))).status).toBe(404);
    expect((await platform.admin.patch(at(id), {})).status).toBe(404);
    const ledger = await platform.admin.get(`${at(id)}/occurrences`);
    expect([ledger.status, ledger.json]).toEqual([200, { items: [], next_cursor: null }]);
  });

  test('is hidden while its script is deleted', async () => {
    const { id: script_id } = await script(platform.admin);
    const id = await schedule(platform.admin, script_id);
    await platform.admin.delete(`/api/v1/scripts/${script_id}`);
    expect((await platform.admin.get(at(id))).status).toBe(404);
    expect((await platform.admin.get(`${all}?script_id=${script_id}`)).json.items).toEqual([]);
    await platform.admin.post(`/api/v1/scripts/${script_id}/undelete`);
    expect((await platform.admin.get(at(id))).status).toBe(200);
  });

  test('is listed for members of its group, page by page', async () => {
    const { id: script_id } = await script(platform.admin, { group_id: groups.bots });
    const ids = [
      await schedule(platform.admin, script_id),
      await schedule(platform.admin, script_id),
    ];
    const address = `${all}?script_id=${script_id}&limit=1`;
    const first = await platform.admin.get(address);
    const next = await platform.admin.get(`${address}&cursor=${first.json.next_cursor}`);
    const listed = [...first.json.items, ...next.json.items] as { id: string }[];
    expect(listed.map((one) => one.id)).toEqual(ids.toReversed());
    const outsider = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
    expect((await outsider.get(address)).json.items).toEqual([]);
    expect((await outsider.get(at(ids[0]!))).status).toBe(404);
  });
});

describe('a preview', () => {
  test('lists the next due times, and explains clock changes', async () => {
    const body = { cron: '30 2 * * *', timezone: 'Europe/Berlin', count: 2 };
    const { status, json } = await platform.admin.post(`${all}/preview`, body);
    expect(status).toBe(200);
    expect(json.items).toEqual([
      {
        utc: '2026-03-29T01:30:00.000Z',
        local: '2026-03-29T03:30:00+02:00',
        note: expect.stringContaining('forward by 60 minutes'),
        skipped: null,
        overlap: null,
        together: [],
      },
      {
        utc: '2026-03-30T00:30:00.000Z',
        local: '2026-03-30T02:30:00+02:00',
        note: null,
        skipped: null,
        overlap: null,
        together: [],
      },
    ]);
    expect(json.usual).toBeNull();
  });

  test('reports due times that overlap with an active run or with other schedules', async () => {
    const { admin } = platform;
    const { id } = await script(admin);
    for (const durationMs of [50_000, 50_000, 70_000]) {
      const runId = await run(admin, id);
      await finishRun(platform, runId, await startRun(platform, runId), 'success', durationMs);
    }
    const other = await schedule(admin, id, { cron: '2 * * * *' });
    const own = await schedule(admin, id, { cron: '* * * * *' });
    const timing = { script_id: id, schedule_id: own, count: 4 };
    const { json } = await admin.post(`${all}/preview`, { ...timing, cron: '* * * * *' });
    expect(json.usual).toEqual({ runs: 3, p50_ms: 50_000, p95_ms: 70_000 });
    const items: { utc: string; overlap: string | null; together: string[] }[] = json.items;
    expect(
      items.map(({ utc, overlap, together }) => [utc.slice(14, 19), overlap, together]),
    ).toEqual([
      ['01:00', null, []],
      ['02:00', 'possible', [other]],
      ['03:00', 'possible', [other]],
      ['04:00', 'possible', []],
    ]);
    const often = await admin.post(`${all}/preview`, { ...timing, interval_seconds: 30, count: 2 });
    expect(often.json.items[1].overlap).toBe('likely');
    const foreign = await someone(platform, { role: 'viewer', groupIds: [groups.monitoring] });
    const refused = await foreign.post(`${all}/preview`, { ...timing, cron: '* * * * *' });
    expect([refused.status, refused.json.errors[0].pointer]).toEqual([422, '/script_id']);
  });

  test("reports that the next due time may overlap with the script's first run", async () => {
    const { admin } = platform;
    const { id } = await script(admin);
    const asked = { script_id: id, cron: '* * * * *', count: 2 };
    const overlaps = async (from: string | null) => {
      const { json } = await admin.post(`${all}/preview`, { ...asked, from });
      return json.items.map(({ overlap }: { overlap: string | null }) => overlap);
    };
    const runId = await run(admin, id);
    expect(await overlaps(null)).toEqual([null, null]);
    await startRun(platform, runId);
    expect(await overlaps(null)).toEqual(['possible', null]);
    expect(await overlaps('2027-07-01T00:00:00Z')).toEqual([null, null]);
  });

  test('lists due times after a given point in time, in the past or future', async () => {
    const timing = { cron: '30 2 * * *', timezone: 'Europe/Berlin', count: 1 };
    const after = async (from: string | null) =>
      (await platform.admin.post(`${all}/preview`, { ...timing, from })).json.items[0].utc;
    expect(await after('2025-10-25T12:00:00Z')).toBe('2025-10-26T00:30:00.000Z');
    expect(await after('2027-07-01T00:00:00+02:00')).toBe('2027-07-01T00:30:00.000Z');
    expect(await after(null)).toBe('2026-03-29T01:30:00.000Z');
    const { status } = await platform.admin.post(`${all}/preview`, { ...timing, from: 'soon' });
    expect(status).toBe(422);
  });

  test('refuses an invalid schedule', async () => {
    const { status, json } = await platform.admin.post(`${all}/preview`, { cron: 'never' });
    expect([status, json.errors[0].pointer]).toEqual([422, '/cron']);
  });
});

describe('a one-shot schedule', () => {
  test('is due once, at the given time', async () => {
    const made = await create({ once_at: '2026-04-01T18:00:00+02:00' });
    expect(made.json).toMatchObject({
      kind: 'once',
      once_at: '2026-04-01T16:00:00.000Z',
      cron: null,
      interval_seconds: null,
      next_fire_at: '2026-04-01T16:00:00.000Z',
    });
    const hourly = await platform.admin.patch(at(made.json.id), { cron: '@hourly' });
    expect(hourly.json).toMatchObject({ kind: 'cron', once_at: null });
  });

  test.each([
    [{ once_at: '2026-03-28T11:59:59Z' }, 'once_at'],
    [{ once_at: '2026-04-01T18:00:00Z', cron: '@daily' }, 'once_at'],
    [{ kind: 'once' }, 'once_at'],
    [{ kind: 'once', interval_seconds: 60 }, 'interval_seconds'],
    [{ once_at: 'tomorrow' }, 'once_at'],
  ])('refuses %j', async (body, field) => {
    const refused = await create(body);
    expect(refused.status).toBe(422);
    expect(refused.json.errors[0].pointer).toBe(`/${field}`);
  });
});

describe('a backfill', () => {
  const range = { from: '2026-03-25T00:00:00Z', to: '2026-03-28T12:00:00Z' };
  const daily = { cron: '30 2 * * *', timezone: 'Europe/Berlin' };
  const dueTimes = [25, 26, 27, 28].map((day) => `2026-03-${day}T01:30:00.000Z`);

  async function backfill(id: string, body: object) {
    return await platform.admin.post(`${at(id)}/backfill`, { ...range, ...body });
  }

  test('starts one run per due time, oldest first, up to its limit', async () => {
    const { id } = (await create(daily)).json;
    const preview = (await backfill(id, { dry_run: true })).json;
    expect(preview).toMatchObject({ remaining: 0, dry_run: true });
    expect(preview.items).toEqual(
      dueTimes.map((due_at) => ({
        due_at,
        local: due_at.replace('01:30:00.000Z', '02:30:00+01:00'),
        run_id: null,
      })),
    );
    const first = (await backfill(id, { max_runs: 3 })).json;
    expect(first).toMatchObject({ remaining: 1, dry_run: false });
    const rest = (await backfill(id, {})).json;
    expect(rest.items).toMatchObject([{ due_at: dueTimes[3], run_id: expect.any(String) }]);
    expect((await backfill(id, {})).json).toMatchObject({ items: [], remaining: 0 });
    const run = await platform.admin.get(`/api/v1/runs/${first.items[0].run_id}`);
    expect(run.json.trigger).toMatchObject({ type: 'schedule', due_at: dueTimes[0] });
    const { items } = (await platform.admin.get(`${at(id)}/occurrences`)).json;
    expect(items.map((one: { outcome: string }) => one.outcome)).toEqual(
      dueTimes.map(() => 'backfilled'),
    );
  });

  test('that is requested twice concurrently starts each run once', async () => {
    const { id } = (await create(daily)).json;
    const answers = await Promise.all([backfill(id, {}), backfill(id, {}), backfill(id, {})]);
    const runs = answers.flatMap(({ json }) =>
      json.items.flatMap(({ run_id }: { run_id: string | null }) => run_id ?? []),
    );
    expect(new Set(runs).size).toBe(4);
    expect(runs).toHaveLength(4);
  });

  test('omits due times after the last settled due time, and refuses long ranges', async () => {
    const { id } = (await create(daily)).json;
    const later = { from: '2026-03-28T12:00:00Z', to: '2026-04-28T12:00:00Z' };
    expect((await backfill(id, later)).json).toMatchObject({ items: [], remaining: 0 });
    const { id: often } = (await create({ cron: '* * * * * *' })).json;
    const refused = await backfill(often, { dry_run: true });
    expect(refused.json.errors).toEqual([
      { pointer: '/to', detail: expect.stringContaining('more than 10000 due times') },
    ]);
    const reversed = await backfill(id, { from: range.to, to: range.from });
    expect(reversed.status).toBe(422);
  });
});
