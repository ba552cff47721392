import type { Recorded } from '#domain/aggregates.ts';
import type { RepositoryEvent } from '#domain/repository/events.ts';
import type { ProvidedResource } from '#domain/repository/repository.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { repositoryColumns, type RepositoriesTable } from './table.ts';

/** The maximum number of commits in the list. The event history contains all commits. */
const maxCommits = 100;

/** Builds the Git repositories with their latest commits. */
export const repositoriesProjection: Projection = rowProjection<
  RepositoriesTable,
  Recorded<RepositoryEvent>
>({
  name: 'repositories',
  version: 1,
  table: 'repositories',
  key: 'repository_id',
  columns: repositoryColumns,
  handles: [
    'RepositoryCreated',
    'RepositoryChanged',
    'RepositoryDeleted',
    'RepositorySynced',
    'RepositorySyncFailed',
    'RepositoryFailureStarted',
    'RepositoryFailureEnded',
  ],
  keyOf: (event) => event.data.repositoryId,
  step,
});

type Row = Omit<RepositoriesTable, 'stream_version'>;

function step(row: Row | undefined, event: Recorded<RepositoryEvent>): Row | undefined {
  const at = event.recordedAt;
  if (event.type === 'RepositoryCreated') {
    const { repositoryId, credential, hook, ...settings } = event.data;
    return {
      repository_id: repositoryId,
      settings,
      credential,
      hook,
      token_hash: hook.tokenHash,
      commits: [],
      provides: [],
      changed: true,
      problem: null,
      failed_commit: null,
      failed_at: null,
      created_at: at,
      updated_at: at,
      deleted: false,
    };
  }
  if (row === undefined) return undefined;
  switch (event.type) {
    case 'RepositoryChanged': {
      const {
        repositoryId: _,
        credential = row.credential,
        hook = row.hook,
        ...changes
      } = event.data;
      const settings = { ...row.settings, ...changes };
      const token_hash = hook?.tokenHash ?? null;
      return { ...row, settings, credential, hook, token_hash, changed: true, updated_at: at };
    }
    case 'RepositoryDeleted':
      return {
        ...row,
        credential: null,
        hook: null,
        token_hash: null,
        provides: [],
        deleted: true,
        updated_at: at,
      };
    case 'RepositorySynced': {
      const { commit, created, changed, deleted, added, removed } = event.data;
      const synced = { ...commit, created, changed, deleted, syncedAt: at.toISOString() };
      return {
        ...row,
        commits: [synced, ...row.commits].slice(0, maxCommits),
        provides: [...row.provides.filter((one) => !isAmong(removed, one)), ...added],
        changed: false,
        problem: null,
        failed_commit: null,
        failed_at: null,
      };
    }
    case 'RepositorySyncFailed': {
      const { problem, commit } = event.data;
      return { ...row, problem, failed_commit: commit, failed_at: at };
    }
    case 'RepositoryFailureStarted':
    case 'RepositoryFailureEnded':
      return row;
  }
}

function isAmong(resources: readonly ProvidedResource[], { kind, id }: ProvidedResource): boolean {
  return resources.some((one) => one.kind === kind && one.id === id);
}
