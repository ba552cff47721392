import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failWith, groups, notice, nowhere, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let viewer: TestClient;
let ours: string;
let theirs: string;
beforeAll(async () => {
  platform = await startTestBackend();
  viewer = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
  ({ id: ours } = await script(platform.admin, { name: 'Ours' }));
  ({ id: theirs } = await script(platform.admin, { group_id: groups.bots }));
});
afterAll(() => platform.close());

interface Listed {
  readonly items: readonly {
    readonly id: string;
    readonly read: boolean;
    readonly script_name: string | null;
  }[];
  readonly next_cursor: string | null;
  readonly unread: number;
}

async function inbox(client: TestClient, query = ''): Promise<Listed> {
  const answer = await client.get(`/api/v1/notifications${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json as Listed;
}

const ids = ({ items }: Listed) => items.map((one) => one.id);

describe('notifications of two groups', () => {
  let [first, second, foreign] = ['', '', ''];
  beforeAll(async () => {
    first = await notice(platform, ours, { message: 'Copied 7 files.' });
    foreign = await notice(platform, theirs);
    second = await notice(platform, ours, { on: 'failed', level: 'error', message: 'It failed.' });
  });

  test('are visible to members of the group, newest first, page by page', async () => {
    const all = await inbox(viewer);
    expect(ids(all)).toEqual([second, first]);
    const me = await viewer.get('/api/v1/auth/me');
    expect([all.unread, me.json.unread_notifications]).toEqual([2, 2]);
    expect(all.items[1]).toEqual({
      id: first,
      approval_id: null,
      time: expect.any(String),
      on: 'message',
      level: 'info',
      message: 'Copied 7 files.',
      script_id: ours,
      script_name: 'Ours',
      group_id: groups.custom,
      run_id: null,
      error_group_id: null,
      count: 1,
      first_seen: expect.any(String),
      read: false,
    });
    const page = await inbox(viewer, '?limit=1');
    expect(ids(page)).toEqual([second]);
    expect(ids(await inbox(viewer, `?limit=1&cursor=${page.next_cursor}`))).toEqual([first]);
    expect(ids(await inbox(platform.admin))).toEqual([second, foreign, first]);
    expect(ids(await inbox(platform.admin, `?script_id=${theirs}`))).toEqual([foreign]);
  });

  test('are marked as read per user', async () => {
    expect((await inbox(viewer)).unread).toBe(2);
    for (const _ of ['once', 'again']) {
      expect((await viewer.post(`/api/v1/notifications/${first}/read`, undefined)).status).toBe(
        204,
      );
    }
    const after = await inbox(viewer);
    expect([after.unread, after.items.map((one) => one.read)]).toEqual([1, [false, true]]);
    expect(ids(await inbox(viewer, '?unread=true'))).toEqual([second]);
    expect((await inbox(platform.admin)).unread).toBe(3);
  });

  test('can be marked as read only by users who can see them', async () => {
    expect((await viewer.post('/api/v1/notifications/read-all', undefined)).status).toBe(204);
    expect((await inbox(viewer)).unread).toBe(0);
    const { rows } = await platform.pool.query('SELECT FROM notice_reads WHERE notice_id = $1', [
      foreign,
    ]);
    expect(rows).toEqual([]);
    await notice(platform, ours);
    expect((await inbox(viewer)).unread).toBe(1);
  });

  test('cannot be read by a user of another group or without a group', async () => {
    for (const id of [foreign, nowhere]) {
      expect((await viewer.post(`/api/v1/notifications/${id}/read`, undefined)).status).toBe(404);
    }
  });

  test('do not reveal the name that a script has in another group', async () => {
    const { id } = await script(platform.admin, { name: 'Before' });
    const moved = await notice(platform, id);
    const changes = { group_id: groups.bots, name: 'After' };
    await platform.admin.sendJson('PATCH', `/api/v1/scripts/${id}`, changes);
    const nameFor = async (client: TestClient) =>
      (await inbox(client)).items.find((one) => one.id === moved)?.script_name;
    expect(await nameFor(viewer)).toBeNull();
    expect(await nameFor(platform.admin)).toBe('After');
  });

  test('are removed when their script is purged', async () => {
    const { id } = await script(platform.admin);
    const gone = await notice(platform, id);
    await platform.admin.sendJson('DELETE', `/api/v1/scripts/${id}`, undefined);
    expect(ids(await inbox(viewer))).toContain(gone);
    await platform.admin.post(`/api/v1/scripts/${id}/purge`, undefined);
    expect(ids(await inbox(viewer))).not.toContain(gone);
  });
});

test('platform notifications are visible only to administrators', async () => {
  await platform.admin.post('/api/v1/notifications/read-all');
  const id = await notice(platform, null, { on: 'alarm', level: 'warning', message: 'No room.' });
  const { items, unread } = await inbox(platform.admin, '?unread=true');
  expect(unread).toBe(1);
  expect(items).toMatchObject([
    { id, on: 'alarm', message: 'No room.', script_id: null, script_name: null, group_id: null },
  ]);
  expect(ids(await inbox(viewer))).not.toContain(id);
  const path = `/api/v1/notifications/${id}/read`;
  expect((await viewer.post(path)).status).toBe(404);
  expect((await platform.admin.post(path)).status).toBe(204);
  expect((await inbox(platform.admin)).unread).toBe(0);
});

test('the message of a notification about a failed run is the exception', async () => {
  const runId = mustParse(parseRunId, await failWith(platform, ours, { message: 'no row' }));
  const about = { on: 'failed', level: 'error', runId } as const;
  const id = await notice(platform, ours, { ...about, message: 'The run failed.' });
  const { items } = await inbox(viewer, '?limit=1');
  expect(items).toMatchObject([{ id, message: 'ValueError: no row', script_name: 'Ours' }]);
});
