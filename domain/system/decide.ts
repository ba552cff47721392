import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { canonicalJson } from '#domain/kernel/json.ts';
import type {
  ChangeBackupSchedule,
  ChangeRetention,
  NoteAlarms,
  SystemCommand,
} from './commands.ts';
import type { SystemEvent } from './events.ts';
import { backupScheduleProblem } from './backup-schedule.ts';
import { maxRetentionDays } from './retention.ts';
import { evolveSystem, initialSystem, type SystemState } from './state.ts';

export function decideSystem(state: SystemState, command: SystemCommand): Decision<SystemEvent> {
  switch (command.type) {
    case 'PauseTriggers':
      return state.paused ? accept() : accept({ type: 'TriggersPaused', data: {} });
    case 'ResumeTriggers':
      return state.paused ? accept({ type: 'TriggersResumed', data: {} }) : accept();
    case 'ChangeRetention':
      return changeRetention(state, command);
    case 'ChangeBackupSchedule':
      return changeBackupSchedule(state, command);
    case 'NoteAlarms':
      return noteAlarms(state, command);
  }
}

/** Records each alarm once when it is raised and once when it is cleared. */
function noteAlarms(
  { alarms: raised }: SystemState,
  { alarms }: NoteAlarms,
): Decision<SystemEvent> {
  const names = new Set(alarms.map(({ name }) => name));
  const over = raised.filter((name) => !names.has(name));
  const added = alarms.filter(({ name }) => !raised.includes(name));
  const events: readonly SystemEvent[] = [
    ...over.map((name) => ({ type: 'AlarmCleared', data: { name } }) as const),
    ...added.map((data) => ({ type: 'AlarmRaised', data }) as const),
  ];
  return accept(...events);
}

function changeBackupSchedule(
  { backups }: SystemState,
  { changes }: ChangeBackupSchedule,
): Decision<SystemEvent> {
  const wanted = { ...backups, ...changes };
  const problem = backupScheduleProblem(wanted);
  if (problem !== undefined) return refuse('validation_failed', problem);
  return canonicalJson(wanted) === canonicalJson(backups)
    ? accept()
    : accept({ type: 'BackupScheduleChanged', data: wanted });
}

function changeRetention(
  { retention }: SystemState,
  { changes }: ChangeRetention,
): Decision<SystemEvent> {
  const wanted = { ...retention, ...changes };
  const isUsable = (days: number | null) =>
    days === null || (Number.isInteger(days) && days >= 1 && days <= maxRetentionDays);
  if (!Object.values(wanted).every(isUsable)) {
    return refuse(
      'validation_failed',
      `Retention must be a whole number of days from 1 to ${maxRetentionDays}.`,
    );
  }
  return canonicalJson(wanted) === canonicalJson(retention)
    ? accept()
    : accept({ type: 'RetentionChanged', data: wanted });
}

export const systemAggregate: Aggregate<SystemState, SystemCommand, SystemEvent> = {
  streamType: 'system',
  commands: {
    PauseTriggers: true,
    ResumeTriggers: true,
    ChangeRetention: true,
    ChangeBackupSchedule: true,
    NoteAlarms: true,
  },
  events: {
    TriggersPaused: true,
    TriggersResumed: true,
    RetentionChanged: true,
    BackupScheduleChanged: true,
    AlarmRaised: true,
    AlarmCleared: true,
  },
  initial: initialSystem,
  evolve: evolveSystem,
  stateVersion: 3,
  decide: decideSystem,
  streamOf: (command) => {
    switch (command.type) {
      case 'ChangeRetention':
        return 'system-retention';
      case 'ChangeBackupSchedule':
        return 'system-backups';
      case 'PauseTriggers':
      case 'ResumeTriggers':
        return 'system-triggers';
      case 'NoteAlarms':
        return 'system-alarms';
    }
  },
  guards: () => [],
  readFacts: () => Promise.resolve(undefined),
};
