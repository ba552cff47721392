import type { BackupId } from '#domain/kernel/ids.ts';
import type {
  BackupChecked,
  BackupFailed,
  BackupFinished,
  BackupStarted,
  RestoreFailed,
} from './events.ts';

export type StartBackup = BackupStarted['data'] & { readonly type: 'StartBackup' };
export type FinishBackup = BackupFinished['data'] & { readonly type: 'FinishBackup' };
export type FailBackup = BackupFailed['data'] & { readonly type: 'FailBackup' };

/** Records a backup that was found in the backup storage. */
export type FindBackup = BackupFinished['data'] & { readonly type: 'FindBackup' };

/** Imports an uploaded backup, even if this installation deleted the same backup earlier. */
export type TakeInBackup = BackupFinished['data'] & { readonly type: 'TakeInBackup' };

/** Records that a backup is missing from the backup storage. */
export interface LoseBackup {
  readonly type: 'LoseBackup';
  readonly backupId: BackupId;
}

export interface CheckBackup {
  readonly type: 'CheckBackup';
  readonly backupId: BackupId;
}

export type RecordCheck = BackupChecked['data'] & { readonly type: 'RecordCheck' };

export interface DeleteBackup {
  readonly type: 'DeleteBackup';
  readonly backupId: BackupId;
}

export interface RequestRestore {
  readonly type: 'RequestRestore';
  readonly backupId: BackupId;
}

export type FailRestore = RestoreFailed['data'] & { readonly type: 'FailRestore' };

export type BackupCommand =
  | StartBackup
  | FinishBackup
  | FailBackup
  | FindBackup
  | TakeInBackup
  | LoseBackup
  | CheckBackup
  | RecordCheck
  | DeleteBackup
  | RequestRestore
  | FailRestore;
