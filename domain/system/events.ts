/** Events of the platform, in the streams `system-triggers`, `system-retention`, `system-backups` and
 *  `system-alarms`. Permanent: never rename a type or change the meaning of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { Alarm, AlarmName } from './alarms.ts';
import type { BackupSchedule } from './backup-schedule.ts';
import type { Retention } from './retention.ts';

/** Automatic starts were paused. */
export type TriggersPaused = DomainEvent<'TriggersPaused', Readonly<Record<string, never>>>;
export type TriggersResumed = DomainEvent<'TriggersResumed', Readonly<Record<string, never>>>;

/** The complete new retention settings. */
export type RetentionChanged = DomainEvent<'RetentionChanged', Retention>;

/** The complete new backup schedule. */
export type BackupScheduleChanged = DomainEvent<'BackupScheduleChanged', BackupSchedule>;

/** An alarm was raised. */
export type AlarmRaised = DomainEvent<'AlarmRaised', Alarm>;
/** An alarm was cleared. */
export type AlarmCleared = DomainEvent<'AlarmCleared', { readonly name: AlarmName }>;

export type SystemEvent =
  | TriggersPaused
  | TriggersResumed
  | RetentionChanged
  | BackupScheduleChanged
  | AlarmRaised
  | AlarmCleared;
