import type { Sealed } from '#domain/secret/events.ts';
import type { SecretStoreEvent } from './events.ts';
import type { SecretStoreSettings } from './store.ts';

export type SecretStoreState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'there';
      readonly version: number;
      readonly settings: SecretStoreSettings;
      readonly sealed: Sealed | null;
    }
  | { readonly status: 'deleted' };

export const initialSecretStore: SecretStoreState = { status: 'absent' };

export function evolveSecretStore(
  state: SecretStoreState,
  event: SecretStoreEvent,
  version: number,
): SecretStoreState {
  if (event.type === 'SecretStoreCreated') {
    const { secretStoreId: _, sealed, ...settings } = event.data;
    return { status: 'there', version, settings, sealed };
  }
  if (state.status !== 'there') return state;
  switch (event.type) {
    case 'SecretStoreChanged': {
      const { secretStoreId: _, sealed = state.sealed, ...changes } = event.data;
      return { status: 'there', version, settings: { ...state.settings, ...changes }, sealed };
    }
    case 'SecretStoreDeleted':
      return { status: 'deleted' };
  }
}
