import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

test('triggers can be paused and resumed, and their state is reported', async () => {
  const triggers = async () => (await platform.admin.get('/api/v1/system/info')).json.triggers;
  expect(await triggers()).toEqual({ paused: false, since: null, by: null });
  const paused = await platform.admin.post('/api/v1/system/pause');
  expect(paused.json).toMatchObject({ paused: true, by: 'admin@example.com' });
  expect(await triggers()).toEqual(paused.json);
  const me = async () => (await platform.admin.get('/api/v1/auth/me')).json;
  const { since, by } = paused.json;
  expect((await me()).paused_triggers).toEqual({ since, by });
  expect((await platform.admin.post('/api/v1/system/pause')).json).toEqual(paused.json);
  expect((await platform.admin.post('/api/v1/system/resume')).json).toMatchObject({
    paused: false,
  });
  expect((await me()).paused_triggers).toBeNull();
  const { rows } = await platform.pool.query(
    "SELECT type FROM events WHERE stream_id = 'system-triggers' ORDER BY version",
  );
  expect(rows).toEqual([{ type: 'TriggersPaused' }, { type: 'TriggersResumed' }]);
});
