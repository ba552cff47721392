import { given } from '#domain/testing/given.ts';
import { backupId } from '#domain/testing/ids.ts';
import { backupContent } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { backupAggregate } from './decide.ts';
import type { BackupEvent } from './events.ts';

const id = { backupId: backupId() };
const content = backupContent();
const start = { type: 'StartBackup', ...id, kind: 'manual' } as const;
const finish = { type: 'FinishBackup', ...id, content } as const;
const find = { type: 'FindBackup', ...id, content } as const;
const remove = { type: 'DeleteBackup', ...id } as const;
const check = { type: 'CheckBackup', ...id } as const;
const restore = { type: 'RequestRestore', ...id } as const;
const started: BackupEvent = { type: 'BackupStarted', data: { ...id, kind: 'manual' } };
const finished: BackupEvent = { type: 'BackupFinished', data: { ...id, content } };
const failed: BackupEvent = { type: 'BackupFailed', data: { ...id, reason: 'no room' } };
const deleted: BackupEvent = { type: 'BackupDeleted', data: id };
const found: BackupEvent = { type: 'BackupFound', data: { ...id, content } };

describe('a backup that does not exist yet', () => {
  test('is started when requested', () => {
    given(backupAggregate).when(start).thenRecords(started);
  });

  test('is recorded when its files are found in storage', () => {
    given(backupAggregate).when(find).thenRecords(found);
  });

  test.each([check, restore, remove])('refuses %j with not_found', (command) => {
    given(backupAggregate).when(command).thenRefuses('not_found');
  });
});

describe('a backup in progress', () => {
  test('records its completion or its failure, but not both', () => {
    given(backupAggregate, started).when(finish).thenRecords(finished);
    const fail = { type: 'FailBackup', ...id, reason: 'no room' } as const;
    given(backupAggregate, started).when(fail).thenRecords(failed);
    given(backupAggregate, started, finished).when(fail).thenRecordsNothing();
  });

  test.each([check, restore])('refuses %j because it is not complete', (command) => {
    given(backupAggregate, started).when(command).thenRefuses('backup_not_complete');
  });

  test('can be deleted, and then cannot be completed', () => {
    given(backupAggregate, started).when(remove).thenRecords(deleted);
    given(backupAggregate, started, deleted).when(finish).thenRefuses('not_found');
    given(backupAggregate, started, deleted).when(find).thenRecordsNothing();
  });
});

describe('a completed backup', () => {
  test('accepts one check at a time and records its result', () => {
    const asked: BackupEvent = { type: 'BackupCheckRequested', data: id };
    const problem = 'Its end is missing.';
    const record = { type: 'RecordCheck', ...id, problem } as const;
    given(backupAggregate, finished).when(check).thenRecords(asked);
    given(backupAggregate, finished, asked).when(check).thenRecordsNothing();
    given(backupAggregate, finished, asked)
      .when(record)
      .thenRecords({ type: 'BackupChecked', data: { ...id, problem } });
    given(backupAggregate, finished).when(record).thenRecordsNothing();
  });

  test('cannot be deleted during a restore, but can be deleted after a failed restore', () => {
    const asked: BackupEvent = { type: 'RestoreRequested', data: id };
    const reason = 'It is damaged.';
    const over: BackupEvent = { type: 'RestoreFailed', data: { ...id, reason } };
    given(backupAggregate, finished).when(restore).thenRecords(asked);
    given(backupAggregate, finished, asked).when(remove).thenRefuses('backup_in_use');
    given(backupAggregate, finished, asked)
      .when({ type: 'FailRestore', ...id, reason })
      .thenRecords(over);
    given(backupAggregate, finished, asked, over).when(remove).thenRecords(deleted);
  });

  test('is recorded as lost when its files are missing from storage, and as found when they reappear', () => {
    const lost: BackupEvent = { type: 'BackupLost', data: id };
    given(backupAggregate, finished)
      .when({ type: 'LoseBackup', ...id })
      .thenRecords(lost);
    given(backupAggregate, finished, lost).when(find).thenRecords(found);
    given(backupAggregate, finished).when(find).thenRecordsNothing();
  });

  test('is complete after a restore, even if the restored history does not contain its completion', () => {
    const restored: BackupEvent = { type: 'BackupRestored', data: { ...id, content } };
    given(backupAggregate, started, restored).when(finish).thenRecordsNothing();
    given(backupAggregate, started, restored).when(remove).thenRecords(deleted);
  });
});
