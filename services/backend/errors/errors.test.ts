/** Error groups: failed runs with the same error. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeTrail } from '../testing/audit-trail.ts';
import { failWith, groups, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
let scriptId: string;
beforeAll(async () => {
  platform = await startTestBackend();
  scriptId = (await script(platform.admin, { group_id: groups.custom, max_concurrent_runs: 99 }))
    .id;
});
afterAll(() => platform.close());

interface Group {
  readonly id: string;
  readonly type: string;
  readonly message: string;
  readonly count: number;
  readonly status: string;
  readonly last_run_id: string;
}

async function groupsNow(query = ''): Promise<readonly Group[]> {
  const { json } = await platform.admin.get(`/api/v1/error-groups${query}`);
  return (json as { items: Group[] }).items;
}

async function runsFor(query: string, client = platform.admin): Promise<readonly string[]> {
  const { json } = await client.get(`/api/v1/runs?${query}`);
  return (json as { items: { run_id: string }[] }).items.map((run) => run.run_id);
}

describe('failed runs with two different errors', () => {
  let first: string;
  let last: string;
  beforeAll(async () => {
    first = await failWith(platform, scriptId, { message: 'bad: 1', fingerprint: 'a' });
    await failWith(platform, scriptId, { type: 'KeyError', fingerprint: 'b' });
    const own = { file: 'main.py', line: 3, function: 'load', code: 'float(row)', own: true };
    const frames = [own, { ...own, file: 'json/decoder.py', own: false }];
    last = await failWith(platform, scriptId, { message: 'bad: 2', fingerprint: 'a', frames });
  });

  test('form two error groups, most recent first', async () => {
    expect(await groupsNow()).toMatchObject([
      {
        type: 'ValueError',
        message: 'bad: 2',
        script_name: 'A script',
        place: 'main.py:3',
        count: 2,
        first_version: 1,
        last_version: 1,
        trend: [...Array<number>(13).fill(0), 2],
        status: 'open',
        last_run_id: last,
      },
      { type: 'KeyError', place: null, count: 1 },
    ]);
  });

  test('link to their error group', async () => {
    const [group] = await groupsNow();
    const { json } = await platform.admin.get(`/api/v1/runs/${first}`);
    expect(json).toMatchObject({ error_group_id: group?.id });
    const runs = await platform.admin.get(`/api/v1/error-groups/${group?.id}/runs`);
    const ids = (runs.json as { items: { run_id: string }[] }).items.map((run) => run.run_id);
    expect(ids).toEqual([last, first]);
  });

  test.each([
    ['the error group', 'error_group_id=', 2],
    ['the error group and a message', 'q=bad: 1&error_group_id=', 1],
    ['the error group and a status', 'status=success&error_group_id=', 0],
  ])('are found by %s', async (_, query, count) => {
    const [group] = await groupsNow();
    expect(await runsFor(`${query}${group?.id}`)).toHaveLength(count);
  });

  test("are found by the error text, but only in the caller's groups", async () => {
    expect(await runsFor('q=VALUEERROR: bad')).toEqual([last, first]);
    expect(await runsFor('q=keyerror')).toHaveLength(1);
    expect(await runsFor('q=valueerror&status=stopped')).toEqual([]);
    expect(await runsFor('q=no such error')).toEqual([]);
    const wanted = { role: 'viewer', groupIds: [groups.bots] } as const;
    const other = await someone(platform, wanted);
    expect(await runsFor('q=valueerror', other)).toEqual([]);
    const [group] = await groupsNow();
    expect(await runsFor(`error_group_id=${group?.id}`, other)).toEqual([]);
  });

  test('have their errors in the audit trail', async () => {
    await writeTrail(platform);
    const { json } = await platform.admin.get(`/api/v1/audit?resource=run-${last}`);
    const [group] = await groupsNow();
    expect((json as { items: object[] }).items).toMatchObject([
      { action: 'run_finished', error_type: 'ValueError', error_group_id: group?.id },
      { action: 'run_started', error_type: null, error_group_id: null },
      { action: 'run_queued' },
    ]);
  });

  test('are found by the start of the run ID', async () => {
    expect(await runsFor(`q=${first}`)).toEqual([first]);
    expect(await runsFor(`q=${first.slice(0, 13)}`)).toContain(first);
    expect(await runsFor(`q=${first.slice(0, 7)}`)).toEqual([]);
  });

  test('have error groups that can be searched by their latest error', async () => {
    expect(await groupsNow('?q=BAD: 2')).toMatchObject([{ type: 'ValueError' }]);
    expect(await groupsNow('?q=bad: 1')).toEqual([]);
  });

  test('have error groups that can be resolved, ignored and reopened', async () => {
    const [group] = await groupsNow();
    const path = `/api/v1/error-groups/${group?.id}`;
    const change = async (body: object) => (await platform.admin.patch(path, body)).json;
    expect(await change({ status: 'resolved', resolved_in_version: 2 })).toMatchObject({
      status: 'resolved',
      resolved_in_version: 2,
    });
    expect((await groupsNow('?status=open')).map(({ type }) => type)).toEqual(['KeyError']);
    const until = '2999-01-01T00:00:00.000Z';
    expect(await change({ status: 'ignored', ignored_until: until })).toMatchObject({
      status: 'ignored',
      ignored_until: until,
      resolved_in_version: null,
    });
    expect(await change({ status: 'open' })).toMatchObject({ status: 'open' });
    expect(await change({ status: 'open', resolved_in_version: 4 })).toMatchObject({
      code: 'validation_failed',
    });
  });

  test('have error groups that can be resolved in the next version of the script, but in no later version', async () => {
    const [group] = await groupsNow();
    const body = { status: 'resolved', resolved_in_version: 99_999 };
    const { json } = await platform.admin.patch(`/api/v1/error-groups/${group?.id}`, body);
    expect(json).toMatchObject({
      code: 'validation_failed',
      detail: '`resolved_in_version` is at most 2, the next version of the script.',
    });
  });

  test('share an error group that cannot be resolved in a version if several scripts have the error', async () => {
    const settings = { group_id: groups.custom, name: 'Copy' };
    const copy = (await script(platform.admin, settings)).id;
    await failWith(platform, copy, { fingerprint: 'a' });
    const [group] = await groupsNow();
    const change = (body: object) =>
      platform.admin.patch(`/api/v1/error-groups/${group?.id}`, body);
    const refused = await change({ status: 'resolved', resolved_in_version: 2 });
    expect(refused.json).toMatchObject({
      code: 'validation_failed',
      detail: expect.stringContaining('2 scripts have this error'),
    });
    expect((await change({ status: 'resolved' })).json).toMatchObject({ status: 'resolved' });
  });
});
