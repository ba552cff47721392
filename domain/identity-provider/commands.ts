import type {
  IdentityProviderChanged,
  IdentityProviderCreated,
  IdentityProviderDeleted,
} from './events.ts';

export type CreateIdentityProvider = IdentityProviderCreated['data'] & {
  readonly type: 'CreateIdentityProvider';
};
export type ChangeIdentityProvider = IdentityProviderChanged['data'] & {
  readonly type: 'ChangeIdentityProvider';
  /** The version on which the client based the change. */
  readonly expectedVersion?: number;
};
export type DeleteIdentityProvider = IdentityProviderDeleted['data'] & {
  readonly type: 'DeleteIdentityProvider';
};

export type IdentityProviderCommand =
  | CreateIdentityProvider
  | ChangeIdentityProvider
  | DeleteIdentityProvider;
