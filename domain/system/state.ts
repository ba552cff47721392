import type { SystemEvent } from './events.ts';
import type { AlarmName } from './alarms.ts';
import { noBackupSchedule, type BackupSchedule } from './backup-schedule.ts';
import { keepEverything, type Retention } from './retention.ts';

export interface SystemState {
  readonly paused: boolean;
  readonly retention: Retention;
  readonly backups: BackupSchedule;
  /** The alarms that are currently raised. */
  readonly alarms: readonly AlarmName[];
}

export const initialSystem: SystemState = {
  paused: false,
  retention: keepEverything,
  backups: noBackupSchedule,
  alarms: [],
};

export function evolveSystem(state: SystemState, event: SystemEvent): SystemState {
  switch (event.type) {
    case 'TriggersPaused':
      return { ...state, paused: true };
    case 'TriggersResumed':
      return { ...state, paused: false };
    case 'RetentionChanged':
      return { ...state, retention: event.data };
    case 'BackupScheduleChanged':
      return { ...state, backups: event.data };
    case 'AlarmRaised':
      return { ...state, alarms: [...state.alarms, event.data.name] };
    case 'AlarmCleared':
      return { ...state, alarms: state.alarms.filter((name) => name !== event.data.name) };
  }
}
