import type {
  CommitFacts,
  Credential,
  ProvidedResource,
  RepositoryHook,
  RepositorySettings,
} from '#domain/repository/repository.ts';
import type { Columns } from '../columns.ts';

/** An applied commit. */
export interface SyncedCommit extends CommitFacts {
  /** In RFC 3339 format. */
  readonly syncedAt: string;
  /** The number of created resources. `changed` and `deleted` are counted in the same way. */
  readonly created: number;
  readonly changed: number;
  readonly deleted: number;
}

export interface RepositoriesTable {
  readonly repository_id: string;
  readonly stream_version: number;
  readonly settings: RepositorySettings;
  readonly credential: Credential | null;
  readonly hook: RepositoryHook | null;
  /** Hash of the token that identifies the repository in webhook requests. */
  readonly token_hash: string | null;
  /** The latest commits, newest first. */
  readonly commits: readonly SyncedCommit[];
  /** The resources that the last applied commit contains. */
  readonly provides: readonly ProvidedResource[];
  /** Whether the settings have changed since the last sync. */
  readonly changed: boolean;
  /** Why the last sync failed. Null if the sync succeeded. */
  readonly problem: string | null;
  readonly failed_commit: CommitFacts | null;
  readonly failed_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deleted: boolean;
}

export const repositoryColumns: Columns<RepositoriesTable> = {
  repository_id: 'uuid',
  stream_version: 'bigint',
  settings: 'jsonb',
  credential: 'jsonb',
  hook: 'jsonb',
  token_hash: 'text',
  commits: 'jsonb',
  provides: 'jsonb',
  changed: 'boolean',
  problem: 'text',
  failed_commit: 'jsonb',
  failed_at: 'timestamptz',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  deleted: 'boolean',
};
