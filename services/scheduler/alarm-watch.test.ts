import { backupId, channelId, groupId, ruleId, scriptId } from '#domain/testing/ids.ts';
import {
  backupContent,
  createChannel,
  createGroup,
  createRule,
  createScript,
} from '#domain/testing/samples.ts';
import { systemIds } from '#infra/system/ids.ts';
import { makeCheckpoint } from '#infra/postgres/readers/checkpoints.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { listenersOfPlatform } from '#projections/rules/queries.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AlarmWatch } from './alarm-watch.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());

test('an alarm is recorded once when it is raised and once when it is cleared, even with several schedulers', async () => {
  let now = new Date('2026-02-01T05:00:00Z');
  const watch = () =>
    new AlarmWatch({
      database: platform.pool,
      reads: platform.reads,
      commands: platform.commands,
      ids: systemIds,
      clock: { now: () => now },
      folder: undefined,
    });
  const recorded = async () => {
    const { rows } = await platform.pool.query<{ type: string; name: string }>(
      `SELECT type, data ->> 'name' AS name FROM events WHERE stream_id = 'system-alarms'
       AND data ->> 'name' = 'backup_overdue' ORDER BY version`,
    );
    return rows.map(({ type }) => type);
  };
  const [one, other] = [watch(), watch()];
  const look = async () => {
    await one.runOnce();
    await other.runOnce();
    await one.runOnce();
  };
  await look();
  expect(await recorded()).toEqual([]);
  await platform.accepted({ type: 'ChangeBackupSchedule', changes: { cron: '0 3 * * *' } });
  now = new Date('2026-02-02T05:00:00Z');
  await look();
  now = new Date('2026-02-02T06:00:00Z');
  await look();
  expect(await recorded()).toEqual(['AlarmRaised']);
  const content = backupContent({ createdAt: '2026-02-02T06:10:00.000Z' });
  await platform.accepted({ type: 'FindBackup', backupId: backupId(), content });
  await look();
  expect(await recorded()).toEqual(['AlarmRaised', 'AlarmCleared']);
});

test('a reader that lags in only one check raises no alarm', async () => {
  const own = await openTestPlatform();
  await own.accepted(createGroup());
  await makeCheckpoint(own.pool, 'audit', 1);
  const watch = new AlarmWatch({
    database: own.pool,
    reads: own.reads,
    commands: own.commands,
    ids: systemIds,
    clock: { now: () => new Date('2026-02-02T07:00:00Z') },
    folder: undefined,
  });
  const raised = async () => {
    const { rows } = await own.pool.query<{ name: string }>(
      `SELECT data ->> 'name' AS name FROM events WHERE type = 'AlarmRaised'`,
    );
    return rows.map(({ name }) => name);
  };
  await watch.runOnce();
  const first = await raised();
  await watch.runOnce();
  expect([first, await raised()]).toEqual([[], ['projection_lag']]);
  await own.close();
});

test('only enabled rules without a script or group filter notify about platform events', async () => {
  const { accepted, reads } = platform;
  await accepted(createGroup());
  await accepted(createScript());
  await accepted(createChannel());
  await accepted(createRule({ on: ['alarm'] }, 1));
  await accepted(createRule({ on: ['alarm'], scriptIds: [scriptId()] }, 2));
  await accepted(createRule({ on: ['alarm'], groupIds: [groupId()] }, 3));
  await accepted(createRule({ on: ['alarm'], enabled: false }, 4));
  const heard = async (before: string) =>
    await listenersOfPlatform(reads, new Date(before)).then((rules) =>
      rules.map(({ ruleId: id, channels }) => [id, channels]),
    );
  expect(await heard('2027-01-01T00:00:00Z')).toEqual([
    [ruleId(1), [{ channelId: channelId(), kind: 'webhook' }]],
  ]);
  expect(await heard('2020-01-01T00:00:00Z')).toEqual([]);
});
