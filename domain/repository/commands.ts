import type {
  RepositoryChanged,
  RepositoryCreated,
  RepositoryDeleted,
  RepositorySynced,
  RepositorySyncFailed,
} from './events.ts';

export type CreateRepository = RepositoryCreated['data'] & { readonly type: 'CreateRepository' };
export type ChangeRepository = RepositoryChanged['data'] & {
  readonly type: 'ChangeRepository';
  /** The version on which the client based the change. */
  readonly expectedVersion?: number;
};
export type DeleteRepository = RepositoryDeleted['data'] & { readonly type: 'DeleteRepository' };
export type RecordSync = RepositorySynced['data'] & { readonly type: 'RecordSync' };
export type RecordSyncFailure = RepositorySyncFailed['data'] & {
  readonly type: 'RecordSyncFailure';
};

export type RepositoryCommand =
  | CreateRepository
  | ChangeRepository
  | DeleteRepository
  | RecordSync
  | RecordSyncFailure;
