import type { RepositoryEvent, RepositorySynced, RepositorySyncFailed } from './events.ts';
import type { Credential, RepositoryHook, RepositorySettings } from './repository.ts';

export type RepositoryState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'there';
      readonly version: number;
      readonly settings: RepositorySettings;
      readonly credential: Credential | null;
      readonly hook: RepositoryHook;
      /** The last successful sync. Null if no sync has succeeded. */
      readonly synced: RepositorySynced['data'] | null;
      /** The failure of the last sync. Null if the last sync succeeded. */
      readonly failed: RepositorySyncFailed['data'] | null;
    }
  | { readonly status: 'deleted' };

export const initialRepository: RepositoryState = { status: 'absent' };

export function evolveRepository(
  state: RepositoryState,
  event: RepositoryEvent,
  version: number,
): RepositoryState {
  if (event.type === 'RepositoryCreated') {
    const { repositoryId: _, credential, hook, ...settings } = event.data;
    return { status: 'there', version, settings, credential, hook, synced: null, failed: null };
  }
  if (state.status !== 'there') return state;
  switch (event.type) {
    case 'RepositoryChanged': {
      const {
        repositoryId: _,
        credential = state.credential,
        hook = state.hook,
        ...changes
      } = event.data;
      const settings = { ...state.settings, ...changes };
      return { ...state, version, settings, credential, hook };
    }
    case 'RepositoryDeleted':
      return { status: 'deleted' };
    case 'RepositorySynced':
      return { ...state, synced: event.data, failed: null };
    case 'RepositorySyncFailed':
      return { ...state, failed: event.data };
    case 'RepositoryFailureStarted':
    case 'RepositoryFailureEnded':
      return state;
  }
}
