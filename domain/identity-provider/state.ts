import type { Sealed } from '#domain/secret/events.ts';
import type { IdentityProviderEvent } from './events.ts';
import type { IdentityProviderSettings } from './provider.ts';

export type IdentityProviderState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'there';
      readonly version: number;
      readonly settings: IdentityProviderSettings;
      readonly sealed: Sealed | null;
    }
  | { readonly status: 'deleted' };

export const initialIdentityProvider: IdentityProviderState = { status: 'absent' };

export function evolveIdentityProvider(
  state: IdentityProviderState,
  event: IdentityProviderEvent,
  version: number,
): IdentityProviderState {
  if (event.type === 'IdentityProviderCreated') {
    const { identityProviderId: _, slug: _slug, sealed, ...settings } = event.data;
    return { status: 'there', version, settings, sealed };
  }
  if (state.status !== 'there') return state;
  switch (event.type) {
    case 'IdentityProviderChanged': {
      const { identityProviderId: _, sealed = state.sealed, ...changes } = event.data;
      return { status: 'there', version, settings: { ...state.settings, ...changes }, sealed };
    }
    case 'IdentityProviderDeleted':
      return { status: 'deleted' };
  }
}
