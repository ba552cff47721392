/** Events of a Git repository, in streams `repository-<id>`. Permanent: never rename a type or change the meaning of a
 *  field. Credentials are stored as ciphertext only. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { RepositoryId } from '#domain/kernel/ids.ts';
import type {
  CommitFacts,
  Credential,
  ProvidedResource,
  RepositoryHook,
  RepositorySettings,
} from './repository.ts';

export type RepositoryCreated = DomainEvent<
  'RepositoryCreated',
  RepositorySettings & {
    readonly repositoryId: RepositoryId;
    /** Null: the repository is public. */
    readonly credential: Credential | null;
    readonly hook: RepositoryHook;
  }
>;

/** Absent settings keep their values. */
export type RepositoryChanged = DomainEvent<
  'RepositoryChanged',
  Partial<RepositorySettings> & {
    readonly repositoryId: RepositoryId;
    readonly credential?: Credential | null;
    readonly hook?: RepositoryHook;
  }
>;

/** The scripts of the repository are kept, and can be edited again. */
export type RepositoryDeleted = DomainEvent<
  'RepositoryDeleted',
  { readonly repositoryId: RepositoryId }
>;

/** Recorded in the transaction that applied the commit. */
export type RepositorySynced = DomainEvent<
  'RepositorySynced',
  {
    readonly repositoryId: RepositoryId;
    readonly commit: CommitFacts;
    /** The numbers of created, changed and deleted resources. */
    readonly created: number;
    readonly changed: number;
    readonly deleted: number;
    /** The resources that the commit contains. */
    readonly added: readonly ProvidedResource[];
    /** Resources that the commit no longer contains. */
    readonly removed: readonly ProvidedResource[];
  }
>;

/** A sync failed, and nothing was applied. */
export type RepositorySyncFailed = DomainEvent<
  'RepositorySyncFailed',
  {
    readonly repositoryId: RepositoryId;
    /** Null: the commit could not be read. */
    readonly commit: CommitFacts | null;
    readonly problem: string;
  }
>;

/** The first failure after a successful sync. Further failures of the same period are not announced. */
export type RepositoryFailureStarted = DomainEvent<
  'RepositoryFailureStarted',
  { readonly repositoryId: RepositoryId; readonly name: string; readonly problem: string }
>;

/** A sync succeeded after failures, or the repository was removed. */
export type RepositoryFailureEnded = DomainEvent<
  'RepositoryFailureEnded',
  {
    readonly repositoryId: RepositoryId;
    readonly name: string;
    readonly reason: 'synced' | 'deleted';
  }
>;

export type RepositoryEvent =
  | RepositoryCreated
  | RepositoryChanged
  | RepositoryDeleted
  | RepositorySynced
  | RepositorySyncFailed
  | RepositoryFailureStarted
  | RepositoryFailureEnded;
