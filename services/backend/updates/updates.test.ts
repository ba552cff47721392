import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustParse, parseUpdateId } from '#domain/kernel/ids.ts';
import { UpdateRefused, type UpdateProvider } from '#domain/ports/updates.ts';
import { systemIds } from '#infra/system/ids.ts';
import { Releases } from '#services/shared/releases.ts';
import { version as current } from '#services/shared/version.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executeOnce } from '../system/seed.ts';
import { nextRelease, startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
let checkLatest: UpdateProvider['checkLatest'] = () => Promise.resolve(nextRelease);
beforeAll(async () => {
  const provider = {
    checkLatest: () => checkLatest(),
    download: () => Promise.reject(new Error('not here')),
    verify: () => Promise.resolve(false),
  };
  platform = await startTestBackend({
    updates: { provider, releases: undefined, wake: () => undefined },
  });
});
afterAll(() => platform.close());

const path = '/api/v1/system/updates';
const post = (what: string, body?: object) => platform.admin.post(`${path}/${what}`, body);

test('the response without an update repository explains how to configure one', async () => {
  const { updates } = platform.services;
  Object.assign(platform.services, { updates: { ...updates, provider: undefined } });
  for (const answer of [await post('check'), await post('apply', { version: '9.9.9' })]) {
    expect([answer.status, answer.json.code]).toEqual([409, 'update_source_not_configured']);
  }
  expect((await platform.admin.get(path)).json).toMatchObject({
    current,
    source_configured: false,
    latest: null,
    running: null,
  });
  Object.assign(platform.services, { updates });
});

test('a check shows an available release, and distinguishes untrusted repositories from unreadable ones', async () => {
  expect((await post('check')).json).toMatchObject({
    latest: { version: nextRelease.version, notes: 'Better.' },
    update_available: true,
  });
  checkLatest = () => Promise.reject(new UpdateRefused('its manifest expired'));
  expect((await post('check')).json).toMatchObject({
    code: 'update_refused',
    detail: 'The repository cannot be trusted: its manifest expired.',
  });
  checkLatest = () => Promise.resolve({ ...nextRelease, version: '998.0.0' });
  expect((await post('check')).json.code).toBe('update_refused');
  checkLatest = () => Promise.reject(new Error('it returned status 500'));
  expect((await post('check')).json).toMatchObject({ code: 'unavailable' });
});

test('updates cannot be installed in the production edition', async () => {
  for (const answer of [
    await post('apply', { version: nextRelease.version }),
    await post('rollback'),
  ]) {
    expect([answer.status, answer.json.code]).toEqual([409, 'update_not_possible']);
  }
  expect((await platform.admin.get(`${path}/history`)).json).toEqual({ items: [] });
});

test('a rollback to a release that does not support the database is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orch-updates-'));
  const releases = new Releases(folder);
  const [now, before] = [join(folder, 'now'), join(folder, 'before')];
  for (const one of [now, before]) await mkdir(join(one, 'migrations'), { recursive: true });
  const previous = { version: '0.0.1', folder: before };
  releases.write('active', { version: current, folder: now, previous });
  const { updates } = platform.services;
  Object.assign(platform.services, { updates: { ...updates, releases } });
  expect((await platform.admin.get(path)).json.previous).toBe('0.0.1');
  await writeFile(join(now, 'migrations', '0001_new.sql'), '');
  expect((await platform.admin.get(path)).json.previous).toBeNull();
  const refused = await post('rollback');
  expect([refused.status, refused.json.code]).toEqual([409, 'update_not_possible']);
  expect(refused.json.detail).toContain('Restore the backup');
  Object.assign(platform.services, { updates });
  await rm(folder, { recursive: true });
});

test('a rollback that loses events requires confirmation, until the copy is discarded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orch-updates-'));
  const releases = new Releases(folder);
  const [now, before] = [join(folder, 'now'), join(folder, 'before')];
  for (const one of [now, before]) await mkdir(join(one, 'migrations'), { recursive: true });
  await writeFile(join(now, 'migrations', '0001_new.sql'), '');
  const previous = { version: '0.0.1', folder: before };
  releases.write('active', { version: current, folder: now, previous });
  const updateId = mustParse(parseUpdateId, systemIds.next());
  const started = { updateId, kind: 'rollback', from: '0.0.1', to: current } as const;
  await executeOnce({ type: 'StartUpdate', ...started }, 'start', platform.services);
  await executeOnce({ type: 'SucceedUpdate', updateId }, 'success', platform.services);
  const madeAt = '2000-01-01T00:00:00.000Z';
  const expiresAt = '2999-01-01T00:00:00.000Z';
  const copy = { updateId, of: previous, folder: join(folder, 'copy'), madeAt, expiresAt };
  releases.write('copy', { ...copy, sizeBytes: 5 });
  const { updates } = platform.services;
  Object.assign(platform.services, { updates: { ...updates, releases } });

  const { previous: to, rollback_copy: shown } = (await platform.admin.get(path)).json;
  expect([to, shown]).toEqual([
    '0.0.1',
    {
      version: '0.0.1',
      made_at: madeAt,
      expires_at: expiresAt,
      size_bytes: 5,
      lost_events: expect.any(Number) as number,
    },
  ]);
  expect(shown.lost_events).toBeGreaterThan(0);
  const asked = await post('rollback');
  expect([asked.status, asked.json.code]).toEqual([409, 'update_not_possible']);
  // Background events of earlier requests, such as token uses, may be recorded at the same time.
  const [, count] = /discards (\d+) events recorded since/.exec(asked.json.detail) ?? [];
  expect(Number(count)).toBeGreaterThanOrEqual(shown.lost_events);
  expect(asked.json.detail).toContain(madeAt);
  const other = await post('apply', { version: nextRelease.version });
  expect(other.json.detail).toContain('Discard the copy first');
  const confirmed = await post('rollback', { discard_events: true });
  expect([confirmed.status, confirmed.json.kind]).toEqual([202, 'rollback']);
  expect((await post('rollback/discard')).json.code).toBe('update_in_progress');
  const failed = { updateId: confirmed.json.id, reason: 'It ended.' };
  await executeOnce({ type: 'FailUpdate', ...failed }, 'failure', platform.services);
  expect((await post('rollback/discard')).json.rollback_copy).toBeNull();

  Object.assign(platform.services, { updates });
  await rm(folder, { recursive: true });
});
