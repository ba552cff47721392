import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { BackupCommand } from './commands.ts';
import type { BackupEvent } from './events.ts';
import { evolveBackup, initialBackup, type BackupState } from './state.ts';

export function decideBackup(state: BackupState, command: BackupCommand): Decision<BackupEvent> {
  if (isOfWhole(command)) return decideWhole(state, command);
  const { backupId } = command;
  switch (command.type) {
    case 'StartBackup':
      if (state.status !== 'absent') return accept();
      return accept({ type: 'BackupStarted', data: { backupId, kind: command.kind } });
    case 'FinishBackup':
      if (state.status === 'deleted') return gone;
      if (state.status !== 'running') return accept();
      return accept({ type: 'BackupFinished', data: { backupId, content: command.content } });
    case 'FailBackup':
      if (state.status !== 'running') return accept();
      return accept({ type: 'BackupFailed', data: { backupId, reason: command.reason } });
    case 'FindBackup':
      if (state.status === 'complete' || state.status === 'deleted') return accept();
      return accept({ type: 'BackupFound', data: { backupId, content: command.content } });
    case 'TakeInBackup':
      if (state.status === 'complete')
        return refuse('already_exists', 'The backup already exists.');
      if (state.status === 'running')
        return refuse('backup_in_use', 'The backup is still in progress.');
      return accept({ type: 'BackupFound', data: { backupId, content: command.content } });
    case 'DeleteBackup':
      return remove(state, backupId);
  }
}

const ofWhole = [
  'LoseBackup',
  'CheckBackup',
  'RecordCheck',
  'RequestRestore',
  'FailRestore',
] as const satisfies readonly BackupCommand['type'][];
type OfWhole = Extract<BackupCommand, { type: (typeof ofWhole)[number] }>;

function isOfWhole(command: BackupCommand): command is OfWhole {
  const types: readonly string[] = ofWhole;
  return types.includes(command.type);
}

/** Decides commands that apply only to a completed backup. */
function decideWhole(state: BackupState, command: OfWhole): Decision<BackupEvent> {
  const { backupId } = command;
  if (state.status === 'absent' || state.status === 'deleted') return gone;
  if (state.status !== 'complete') return notComplete;
  switch (command.type) {
    case 'LoseBackup':
      return accept({ type: 'BackupLost', data: { backupId } });
    case 'CheckBackup':
      if (state.isChecking) return accept();
      return accept({ type: 'BackupCheckRequested', data: { backupId } });
    case 'RecordCheck':
      if (!state.isChecking) return accept();
      return accept({ type: 'BackupChecked', data: { backupId, problem: command.problem } });
    case 'RequestRestore':
      if (state.isRestoring) return accept();
      return accept({ type: 'RestoreRequested', data: { backupId } });
    case 'FailRestore':
      if (!state.isRestoring) return accept();
      return accept({ type: 'RestoreFailed', data: { backupId, reason: command.reason } });
  }
}

function remove(state: BackupState, backupId: BackupCommand['backupId']): Decision<BackupEvent> {
  if (state.status === 'absent') return gone;
  if (state.status === 'deleted') return accept();
  if (state.status === 'complete' && state.isRestoring) {
    return refuse('backup_in_use', 'A restore from this backup is in progress.');
  }
  return accept({ type: 'BackupDeleted', data: { backupId } });
}

const gone = refuse('not_found', 'Backup not found.');
const notComplete = refuse('backup_not_complete', 'The backup is not complete.');

export const backupAggregate: Aggregate<BackupState, BackupCommand, BackupEvent> = {
  streamType: 'backup',
  commands: {
    StartBackup: true,
    FinishBackup: true,
    FailBackup: true,
    FindBackup: true,
    TakeInBackup: true,
    LoseBackup: true,
    CheckBackup: true,
    RecordCheck: true,
    DeleteBackup: true,
    RequestRestore: true,
    FailRestore: true,
  },
  events: {
    BackupStarted: true,
    BackupFinished: true,
    BackupFailed: true,
    BackupFound: true,
    BackupLost: true,
    BackupCheckRequested: true,
    BackupChecked: true,
    BackupDeleted: true,
    RestoreRequested: true,
    RestoreFailed: true,
    BackupRestored: true,
  },
  initial: initialBackup,
  evolve: evolveBackup,
  stateVersion: 1,
  decide: decideBackup,
  streamOf: (command) => `backup-${command.backupId}`,
  guards: () => [],
  readFacts: () => Promise.resolve(undefined),
};
