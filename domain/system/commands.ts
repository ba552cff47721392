import type { Alarm } from './alarms.ts';
import type { BackupSchedule } from './backup-schedule.ts';
import type { Retention } from './retention.ts';

/** Pauses automatic starts by schedules, webhooks, chains, retries and always-on scripts. Runs that users, clients
 *  or queue producers request still start. */
export interface PauseTriggers {
  readonly type: 'PauseTriggers';
}

/** Resumes automatic starts and releases the runs that waited for this. */
export interface ResumeTriggers {
  readonly type: 'ResumeTriggers';
}

/** Sets retention periods. Absent retention periods are unchanged. */
export interface ChangeRetention {
  readonly type: 'ChangeRetention';
  readonly changes: Partial<Retention>;
}

/** Sets the schedule of automatic backups. Absent settings are unchanged. */
export interface ChangeBackupSchedule {
  readonly type: 'ChangeBackupSchedule';
  readonly changes: Partial<BackupSchedule>;
}

/** Sets the current alarms. Alarms that are not in the list are cleared. */
export interface NoteAlarms {
  readonly type: 'NoteAlarms';
  readonly alarms: readonly Alarm[];
}

export type SystemCommand =
  | PauseTriggers
  | ResumeTriggers
  | ChangeRetention
  | ChangeBackupSchedule
  | NoteAlarms;
