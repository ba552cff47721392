import { withoutSecret, withSecret, type SecretsState } from '#domain/secret/state.ts';
import type { GroupSecretEvent } from './events.ts';

export function evolveGroupSecrets(state: SecretsState, event: GroupSecretEvent): SecretsState {
  switch (event.type) {
    case 'GroupSecretSet':
      return withSecret(state, event.data);
    case 'GroupSecretDeleted':
      return withoutSecret(state, event.data.name);
  }
}
