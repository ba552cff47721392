import type { Alarm } from './alarms.ts';
import type { BackupSchedule } from './backup-schedule.ts';
import type { Retention } from './retention.ts';

/** Pauses automatic starts: schedules, webhooks, chains, retries and bots. Runs that a user, a client or a
 *  producer requests are not affected. */
export interface PauseTriggers {
  readonly type: 'PauseTriggers';
}

/** Resumes automatic starts and releases held runs. */
export interface ResumeTriggers {
  readonly type: 'ResumeTriggers';
}

/** Sets retention periods; absent kinds keep their values. */
export interface ChangeRetention {
  readonly type: 'ChangeRetention';
  readonly changes: Partial<Retention>;
}

/** Sets the schedule of automatic backups; absent settings keep their values. */
export interface ChangeBackupSchedule {
  readonly type: 'ChangeBackupSchedule';
  readonly changes: Partial<BackupSchedule>;
}

/** Sets the current alarms. Every alarm that is absent is cleared. */
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
