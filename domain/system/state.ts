import type { SystemEvent } from './events.ts';
import { noBackupSchedule, type BackupSchedule } from './backup-schedule.ts';
import { keepEverything, type Retention } from './retention.ts';

export interface SystemState {
  readonly paused: boolean;
  readonly retention: Retention;
  readonly backups: BackupSchedule;
}

export const initialSystem: SystemState = {
  paused: false,
  retention: keepEverything,
  backups: noBackupSchedule,
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
  }
}
