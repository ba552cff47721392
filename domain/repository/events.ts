/** Events of a Git repository, in streams `repository-<id>`. Permanent: never rename a type or change the meaning of
 *  a field. Credentials are stored only as ciphertext. */
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
    /** Null if the repository is public. */
    readonly credential: Credential | null;
    readonly hook: RepositoryHook;
  }
>;

/** Settings were changed. Settings that are absent keep their values. */
export type RepositoryChanged = DomainEvent<
  'RepositoryChanged',
  Partial<RepositorySettings> & {
    readonly repositoryId: RepositoryId;
    readonly credential?: Credential | null;
    readonly hook?: RepositoryHook;
  }
>;

/** The repository was removed. Its scripts remain and can be edited on the platform again. */
export type RepositoryDeleted = DomainEvent<
  'RepositoryDeleted',
  { readonly repositoryId: RepositoryId }
>;

/** A commit was applied. Recorded in the same transaction as the changes. */
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
    /** The resources that the commit no longer contains. */
    readonly removed: readonly ProvidedResource[];
  }
>;

/** A sync failed, and nothing was applied. */
export type RepositorySyncFailed = DomainEvent<
  'RepositorySyncFailed',
  {
    readonly repositoryId: RepositoryId;
    /** Null if the commit could not be read. */
    readonly commit: CommitFacts | null;
    readonly problem: string;
  }
>;

/** The first sync failed after a successful one. Further failures are not reported until a sync succeeds again. */
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
