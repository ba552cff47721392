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

describe('given no backup', () => {
  test('when one is asked for, then it is started', () => {
    given(backupAggregate).when(start).thenRecords(started);
  });

  test('when one is found, then it is there', () => {
    given(backupAggregate).when(find).thenRecords(found);
  });

  test.each([check, restore, remove])('when it gets %j, then there is none', (command) => {
    given(backupAggregate).when(command).thenRefuses('not_found');
  });
});

describe('given a backup that is being made', () => {
  test('when it is done or cannot be, then that is recorded', () => {
    given(backupAggregate, started).when(finish).thenRecords(finished);
    const fail = { type: 'FailBackup', ...id, reason: 'no room' } as const;
    given(backupAggregate, started).when(fail).thenRecords(failed);
    given(backupAggregate, started, finished).when(fail).thenRecordsNothing();
  });

  test.each([check, restore])('when it gets %j, then it is refused', (command) => {
    given(backupAggregate, started).when(command).thenRefuses('backup_not_complete');
  });

  test('when it is deleted, then its maker is told that there is none', () => {
    given(backupAggregate, started).when(remove).thenRecords(deleted);
    given(backupAggregate, started, deleted).when(finish).thenRefuses('not_found');
    given(backupAggregate, started, deleted).when(find).thenRecordsNothing();
  });
});

describe('given a backup that is whole', () => {
  test('when it is to be checked, then once, and what comes of it is recorded', () => {
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

  test('when it is to be restored, then it cannot be deleted until that has failed', () => {
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

  test('when it is gone, then it is lost, until it is found', () => {
    const lost: BackupEvent = { type: 'BackupLost', data: id };
    given(backupAggregate, finished)
      .when({ type: 'LoseBackup', ...id })
      .thenRecords(lost);
    given(backupAggregate, finished, lost).when(find).thenRecords(found);
    given(backupAggregate, finished).when(find).thenRecordsNothing();
  });

  test('when all there is comes from it, then it is whole, though its history ended as it was made', () => {
    const restored: BackupEvent = { type: 'BackupRestored', data: { ...id, content } };
    given(backupAggregate, started, restored).when(finish).thenRecordsNothing();
    given(backupAggregate, started, restored).when(remove).thenRecords(deleted);
  });
});
