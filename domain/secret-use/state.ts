import type { SecretRead, SecretUseEvent } from './events.ts';

/** What the run was given so far. */
export type SecretUseState = readonly SecretRead[];

export const initialSecretUse: SecretUseState = [];

export function evolveSecretUse(state: SecretUseState, event: SecretUseEvent): SecretUseState {
  switch (event.type) {
    case 'SecretsRead':
      return [...state, ...event.data.secrets];
  }
}
