import type { SecretEvent } from './events.ts';

export interface Secret {
  /** Version of the last value. */
  readonly version: number;
  readonly present: boolean;
  readonly asEnvironment: boolean;
  /** Length of the ciphertext's base64. */
  readonly sealedBytes: number;
}

/** By name. Deleted secrets remain, so that no version is reused. */
export type SecretsState = ReadonlyMap<string, Secret>;

export const initialSecrets: SecretsState = new Map();

export function evolveSecrets(state: SecretsState, event: SecretEvent): SecretsState {
  switch (event.type) {
    case 'SecretSet': {
      const { name, version, asEnvironment, sealed } = event.data;
      const sealedBytes = sealed.ciphertext.length;
      return new Map(state).set(name, { version, present: true, asEnvironment, sealedBytes });
    }
    case 'SecretDeleted': {
      const secret = state.get(event.data.name);
      return secret === undefined
        ? state
        : new Map(state).set(event.data.name, { ...secret, present: false, sealedBytes: 0 });
    }
  }
}
