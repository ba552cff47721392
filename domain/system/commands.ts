import type { Alarm } from './alarms.ts';
import type { BackupSchedule } from './backup-schedule.ts';
import type { Retention } from './retention.ts';

/** Holds everything that would start by itself: schedules, webhooks, chains, retries and bots. What a
 *  person, a client or a producer asks for goes on. */
export interface PauseTriggers {
  readonly type: 'PauseTriggers';
}

/** Releases what was held. */
export interface ResumeTriggers {
  readonly type: 'ResumeTriggers';
}

/** Sets how long things are kept; what is not named stays. */
export interface ChangeRetention {
  readonly type: 'ChangeRetention';
  readonly changes: Partial<Retention>;
}

/** Sets when backups are made by themselves; what is not named stays. */
export interface ChangeBackupSchedule {
  readonly type: 'ChangeBackupSchedule';
  readonly changes: Partial<BackupSchedule>;
}

/** Says what has to be looked at now; what is not named is well. */
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
