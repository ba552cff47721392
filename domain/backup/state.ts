import type { BackupContent, BackupKind } from './backup.ts';
import type { BackupEvent } from './events.ts';

export type BackupState =
  | { readonly status: 'absent' }
  | { readonly status: 'running'; readonly kind: BackupKind }
  | {
      readonly status: 'complete';
      readonly content: BackupContent;
      /** Whether a requested check of the archive has not finished yet. */
      readonly isChecking: boolean;
      /** Whether a requested restore has not finished yet. */
      readonly isRestoring: boolean;
    }
  | { readonly status: 'failed' }
  | { readonly status: 'deleted' };

export const initialBackup: BackupState = { status: 'absent' };

export function evolveBackup(state: BackupState, event: BackupEvent): BackupState {
  switch (event.type) {
    case 'BackupStarted':
      return { status: 'running', kind: event.data.kind };
    case 'BackupFinished':
    case 'BackupFound':
    case 'BackupRestored':
      return {
        status: 'complete',
        content: event.data.content,
        isChecking: false,
        isRestoring: false,
      };
    case 'BackupFailed':
    case 'BackupLost':
      return { status: 'failed' };
    case 'BackupCheckRequested':
      return state.status === 'complete' ? { ...state, isChecking: true } : state;
    case 'BackupChecked':
      return state.status === 'complete' ? { ...state, isChecking: false } : state;
    case 'RestoreRequested':
      return state.status === 'complete' ? { ...state, isRestoring: true } : state;
    case 'RestoreFailed':
      return state.status === 'complete' ? { ...state, isRestoring: false } : state;
    case 'BackupDeleted':
      return { status: 'deleted' };
  }
}
