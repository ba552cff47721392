import { backupContent } from '#domain/testing/samples.ts';
import { backupId } from '#domain/testing/ids.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { alarmsNow, diskAlarm } from './alarms.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());

const gibibyte = 1024 ** 3;

test.each([
  [500 * gibibyte, 2 * gibibyte, undefined],
  [500 * gibibyte, gibibyte / 2, 'Only 512 MiB of disk space is free'],
  [gibibyte, gibibyte / 10, undefined],
  [gibibyte, gibibyte / 100, 'Only 10 MiB of disk space is free'],
])(
  'the disk alarm is raised only if space is low: disk of %d bytes with %d bytes free',
  (totalBytes, freeBytes, said) => {
    const alarm = diskAlarm({ totalBytes, freeBytes });
    expect(alarm?.detail.startsWith(said ?? '-')).toBe(said && true);
  },
);

test('the backup alarm is raised only if the backup is overdue by more than one hour', async () => {
  const at = (time: string) =>
    alarmsNow({
      database: platform.pool,
      reads: platform.reads,
      clock: { now: () => new Date(time) },
      folder: undefined,
    }).then((all) => all.filter(({ name }) => name === 'backup_overdue'));
  expect(await at('2026-02-01T12:00:00Z')).toEqual([]);
  const changes = { cron: '0 3 * * *' };
  await platform.accepted({ type: 'ChangeBackupSchedule', changes });
  expect(await at('2026-02-01T03:30:00Z')).toEqual([]);
  expect(await at('2026-02-01T05:00:00Z')).toMatchObject([
    { detail: expect.stringContaining('A backup is overdue by 2 hours') },
  ]);
  const content = backupContent({ createdAt: '2026-02-01T05:00:00.000Z' });
  await platform.accepted({ type: 'FindBackup', backupId: backupId(), content });
  expect(await at('2026-02-01T06:00:00Z')).toEqual([]);
  expect(await at('2026-02-02T06:00:00Z')).toHaveLength(1);
});
