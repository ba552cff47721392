import type { SecretStoreChanged, SecretStoreCreated, SecretStoreDeleted } from './events.ts';

export type CreateSecretStore = SecretStoreCreated['data'] & {
  readonly type: 'CreateSecretStore';
};
export type ChangeSecretStore = SecretStoreChanged['data'] & {
  readonly type: 'ChangeSecretStore';
  /** The version on which the client based the change. */
  readonly expectedVersion?: number;
};
export type DeleteSecretStore = SecretStoreDeleted['data'] & {
  readonly type: 'DeleteSecretStore';
};

export type SecretStoreCommand = CreateSecretStore | ChangeSecretStore | DeleteSecretStore;
