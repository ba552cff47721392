import type { SecretRead, SecretUseEvent } from './events.ts';

/** The secret values that the run has received. */
export type SecretUseState = readonly SecretRead[];

export const initialSecretUse: SecretUseState = [];

export function evolveSecretUse(state: SecretUseState, event: SecretUseEvent): SecretUseState {
  switch (event.type) {
    case 'SecretsRead':
      return [...state, ...event.data.secrets];
  }
}
