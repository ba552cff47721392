/** Facts of the whole platform, in the streams `system-triggers`, `system-retention`, `system-backups` and
 *  `system-alarms`. Stored for good: a type is never renamed and a field never changes its meaning. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { Alarm, AlarmName } from './alarms.ts';
import type { BackupSchedule } from './backup-schedule.ts';
import type { Retention } from './retention.ts';

/** From now on nothing starts by itself. */
export type TriggersPaused = DomainEvent<'TriggersPaused', Readonly<Record<string, never>>>;
export type TriggersResumed = DomainEvent<'TriggersResumed', Readonly<Record<string, never>>>;

/** All of the setting, as it is from then on. */
export type RetentionChanged = DomainEvent<'RetentionChanged', Retention>;

/** All of the setting, as it is from then on. */
export type BackupScheduleChanged = DomainEvent<'BackupScheduleChanged', BackupSchedule>;

/** Somebody has to look at something, which was well until then. */
export type AlarmRaised = DomainEvent<'AlarmRaised', Alarm>;
/** It is well again. */
export type AlarmCleared = DomainEvent<'AlarmCleared', { readonly name: AlarmName }>;

export type SystemEvent =
  | TriggersPaused
  | TriggersResumed
  | RetentionChanged
  | BackupScheduleChanged
  | AlarmRaised
  | AlarmCleared;
