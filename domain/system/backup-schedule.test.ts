import { describe, expect, test } from 'vitest';
import { given } from '#domain/testing/given.ts';
import {
  backupScheduleProblem,
  lastBackupDue,
  nextBackupDue,
  noBackupSchedule,
  type BackupSchedule,
} from './backup-schedule.ts';
import { systemAggregate } from './decide.ts';

const nightly: BackupSchedule = { cron: '0 3 * * *', timezone: 'Europe/Berlin', keep: 7 };
const at = (text: string) => new Date(`${text}Z`);

describe('nightly backups in Berlin', () => {
  test.each([
    ['2026-01-02T01:59:59', undefined],
    ['2026-01-02T02:00:00', '2026-01-02T02:00:00'],
    ['2026-01-02T12:00:00', '2026-01-02T02:00:00'],
    ['2027-06-30T12:00:00', '2027-06-30T01:00:00'],
  ])('at %s, were last due at %s', (now, due) => {
    const found = lastBackupDue(nightly, at('2026-01-01T12:00:00'), at(now));
    expect(found).toEqual(due === undefined ? undefined : at(due));
  });

  test('are next due the following night', () => {
    expect(nextBackupDue(nightly, at('2026-01-02T02:00:00'))).toEqual(at('2026-01-03T02:00:00'));
  });
});

test('no backup is due if automatic backups are disabled', () => {
  const now = at('2026-01-02T02:00:00');
  expect(lastBackupDue(noBackupSchedule, at('2020-01-01T00:00:00'), now)).toBeUndefined();
  expect(nextBackupDue(noBackupSchedule, now)).toBeUndefined();
});

test.each<Partial<BackupSchedule>>([
  { keep: 0 },
  { keep: 1.5 },
  { cron: 'nightly' },
  { cron: '0 0 31 2 *' },
  { timezone: 'Mars/Olympus' },
  { cron: null, timezone: 'Mars/Olympus' },
])('the backup schedule %j is refused', (changes) => {
  expect(backupScheduleProblem({ ...nightly, ...changes })).toBeDefined();
  given(systemAggregate)
    .when({ type: 'ChangeBackupSchedule', changes })
    .thenRefuses('validation_failed');
});

test('a change is recorded only once, with the complete backup schedule', () => {
  const change = { type: 'ChangeBackupSchedule', changes: { cron: '0 3 * * *' } } as const;
  const data = { ...noBackupSchedule, cron: '0 3 * * *' };
  const changed = { type: 'BackupScheduleChanged', data } as const;
  given(systemAggregate).when(change).thenRecords(changed);
  given(systemAggregate, changed).when(change).thenRecordsNothing();
});
