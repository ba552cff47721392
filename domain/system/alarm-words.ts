/** How people are told of alarms. */
import type { AlarmCleared, AlarmRaised } from './events.ts';
import type { AlarmName } from './alarms.ts';

const over: Readonly<Record<AlarmName, string>> = {
  disk_low: 'Free disk space is sufficient again.',
  backup_overdue: 'The overdue backup has completed.',
  projection_lag: 'All event readers have caught up.',
  clock_difference: 'All clocks match the database clock again.',
};

export function alarmNews(event: AlarmRaised | AlarmCleared) {
  return event.type === 'AlarmRaised'
    ? ({ on: 'alarm', level: 'warning', message: event.data.detail } as const)
    : ({ on: 'alarm_cleared', level: 'info', message: over[event.data.name] } as const);
}
