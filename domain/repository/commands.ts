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
  /** The version that the caller has seen. */
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
