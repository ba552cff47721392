import { backupId } from '#domain/testing/ids.ts';
import { readTar } from '#infra/backup/tar.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backup, nowhere } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

const path = '/api/v1/backups';

test('a requested backup is reported as running', async () => {
  const asked = await platform.admin.post(path, undefined);
  expect([asked.status, asked.json]).toMatchObject([
    202,
    { status: 'running', kind: 'manual', size_bytes: null, created_by: 'admin@example.com' },
  ]);
  const { id } = asked.json;
  expect((await platform.admin.get(`${path}/${id}`)).json).toEqual(asked.json);
  expect((await platform.admin.get(path)).json.items).toEqual([asked.json]);
  for (const wanted of ['verify', 'restore']) {
    const early = await platform.admin.post(`${path}/${id}/${wanted}`, undefined);
    expect([early.status, early.json.code]).toEqual([409, 'backup_not_complete']);
  }
  const download = await platform.admin.get(`${path}/${id}/download`);
  expect([download.status, download.json.code]).toEqual([409, 'backup_not_complete']);
});

describe('a backup', () => {
  let id: string;
  beforeAll(async () => {
    id = await backup(platform);
  });

  test('is downloaded as one file with all parts, and the download is audited', async () => {
    const response = await fetch(`${platform.origin}${path}/${id}/download`, {
      headers: { Authorization: `Bearer ${platform.admin.token}` },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect(response.headers.get('content-disposition')).toContain('backup-2026-01-01T0000.tar');
    const names: string[] = [];
    for await (const { name, content } of readTar(chunks(bytes))) {
      names.push(name);
      for await (const _ of content);
    }
    expect(names).toEqual(['backup.json', 'keys.json', 'backup.tar']);
    const { rows } = await platform.pool.query(
      `SELECT data ->> 'action' AS action, data ->> 'resource' AS resource FROM events WHERE type = 'DataDisclosed'`,
    );
    expect(rows).toEqual([{ action: 'backup_downloaded', resource: `backup-${id}` }]);
  });

  test('is reported as being verified until its verification ends', async () => {
    const asked = await platform.admin.post(`${path}/${id}/verify`, undefined);
    expect([asked.status, asked.json.verifying]).toEqual([202, true]);
  });

  test('cannot be deleted while a restore is requested', async () => {
    const other = await backup(platform);
    const asked = await platform.admin.post(`${path}/${other}/restore`, undefined);
    expect([asked.status, asked.json.restoring]).toEqual([202, true]);
    const refused = await platform.admin.delete(`${path}/${other}`);
    expect([refused.status, refused.json.code]).toEqual([409, 'backup_in_use']);
  });

  test('no longer exists after deletion', async () => {
    expect((await platform.admin.delete(`${path}/${id}`)).status).toBe(204);
    for (const one of [id, nowhere, backupId()]) {
      expect((await platform.admin.get(`${path}/${one}`)).status).toBe(404);
      expect((await platform.admin.delete(`${path}/${one}`)).status).toBe(404);
      expect((await platform.admin.post(`${path}/${one}/restore`, undefined)).status).toBe(404);
    }
  });
});

describe('scheduled backups', () => {
  test('are off by default', async () => {
    const changed = { changed_at: null, changed_by: null };
    expect((await platform.admin.get(`${path}/schedule`)).json).toEqual({
      cron: null,
      timezone: 'UTC',
      keep: 7,
      next_at: null,
      ...changed,
    });
    const body = { cron: '30 3 * * *', timezone: 'Europe/Berlin' };
    const put = await platform.admin.sendJson('PUT', `${path}/schedule`, body);
    expect(put.json).toMatchObject({ ...body, keep: 7, changed_by: 'admin@example.com' });
    expect(put.json.next_at).toMatch(/T0[12]:30:00/);
  });

  test.each([
    [{ cron: 'every day' }],
    [{ timezone: 'Mars/Olympus' }],
    [{ keep: 0 }],
    [{ keep: 1.5 }],
    [{ unknown: 1 }],
  ])('cannot have the schedule %j', async (body) => {
    const put = await platform.admin.sendJson('PUT', `${path}/schedule`, body);
    expect([put.status, put.json.code]).toEqual([422, 'validation_failed']);
  });
});

async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
