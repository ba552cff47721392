/** Texts of alarms for users. */
import type { AlarmCleared, AlarmRaised } from './events.ts';
import type { AlarmName } from './alarms.ts';

const over: Readonly<Record<AlarmName, string>> = {
  disk_low: 'There is room on the disk again.',
  backup_overdue: 'No backup is missing any more.',
  projection_lag: 'What was behind the events has caught up.',
  clock_difference: 'All clocks agree with that of the database again.',
};

export function alarmNews(event: AlarmRaised | AlarmCleared) {
  return event.type === 'AlarmRaised'
    ? ({ on: 'alarm', level: 'warning', message: event.data.detail } as const)
    : ({ on: 'alarm_cleared', level: 'info', message: over[event.data.name] } as const);
}
