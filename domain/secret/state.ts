import type { SecretEvent, SecretValue } from './events.ts';

export interface Secret {
  /** The version of the latest value. */
  readonly version: number;
  readonly present: boolean;
  readonly asEnvironment: boolean;
  readonly rotateAfterDays?: number;
  /** Length of the base64 ciphertext. */
  readonly sealedBytes: number;
}

/** The secrets by name. Deleted secrets remain in the map, so that their versions are never reused. */
export type SecretsState = ReadonlyMap<string, Secret>;

export const initialSecrets: SecretsState = new Map();

export function evolveSecrets(state: SecretsState, event: SecretEvent): SecretsState {
  switch (event.type) {
    case 'SecretSet':
      return withSecret(state, event.data);
    case 'SecretDeleted':
      return withoutSecret(state, event.data.name);
  }
}

export function withSecret(
  state: SecretsState,
  { name, version, asEnvironment, rotateAfterDays, sealed }: SecretValue,
): SecretsState {
  return new Map(state).set(name, {
    version,
    present: true,
    asEnvironment,
    ...(rotateAfterDays !== undefined && { rotateAfterDays }),
    sealedBytes: sealed.ciphertext.length,
  });
}

export function withoutSecret(state: SecretsState, name: string): SecretsState {
  const secret = state.get(name);
  return secret === undefined
    ? state
    : new Map(state).set(name, { ...secret, present: false, sealedBytes: 0 });
}
