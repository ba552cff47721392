import { at } from '#domain/testing/recorded.ts';
import { noticeId, scriptId } from '#domain/testing/ids.ts';
import { deriveTimeOrderedId } from '#domain/kernel/ids.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { removeNoticesOfScript, removeOldNotices } from './notice-removals.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());

const notices = [1, 2, 3].map((number) => deriveTimeOrderedId(noticeId(number), at(number)));
beforeEach(async () => {
  await platform.pool.query('TRUNCATE notices');
  await platform.pool.query('DELETE FROM notice_reads');
  for (const [index, id] of notices.entries()) {
    await platform.pool.query(
      `INSERT INTO notices VALUES ($1, 1, now(), 'failed', 'error', 'It failed.', $2, $2)`,
      [id, scriptId(index === 2 ? 2 : 1)],
    );
    await platform.pool.query('INSERT INTO notice_reads VALUES ($1, $1)', [id]);
  }
});

async function left() {
  const { rows } = await platform.pool.query<{ notice_id: string; read: boolean }>(
    `SELECT notice_id, r.user_id IS NOT NULL AS read FROM notices n
      FULL JOIN notice_reads r USING (notice_id) ORDER BY notice_id`,
  );
  return rows.map((row) => row.notice_id);
}

test('expired notices and their read marks are removed in batches', async () => {
  expect(await removeOldNotices(platform.pool, at(3), 1)).toBe(true);
  expect(await left()).toEqual(notices.slice(1));
  expect(await removeOldNotices(platform.pool, at(3), 2)).toBe(false);
  expect(await left()).toEqual(notices.slice(2));
});

test('all notices about a script are removed with their read marks', async () => {
  await removeNoticesOfScript(platform.pool, scriptId(1));
  expect(await left()).toEqual(notices.slice(2));
});
