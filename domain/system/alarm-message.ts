/** The texts of notifications about alarms. */
import type { AlarmCleared, AlarmRaised } from './events.ts';
import type { AlarmName } from './alarms.ts';

const over: Readonly<Record<AlarmName, string>> = {
  disk_low: 'Disk space is sufficient again.',
  backup_overdue: 'Backups are up to date again.',
  projection_lag: 'All projections have caught up.',
  clock_difference: 'All clocks are in sync with the database again.',
  label_missing: 'Every queued run has a runtime with its labels again.',
};

export function alarmMessage(event: AlarmRaised | AlarmCleared) {
  return event.type === 'AlarmRaised'
    ? ({ on: 'alarm', level: 'warning', message: event.data.detail } as const)
    : ({ on: 'alarm_cleared', level: 'info', message: over[event.data.name] } as const);
}
