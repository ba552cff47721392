/** Formats repositories for API responses. Credentials are never returned. */
import type { CommitFacts } from '#domain/repository/repository.ts';
import type { RepositoriesTable, SyncedCommit } from '#projections/repositories/table.ts';
import { importJson } from '../configuration/view.ts';
import type { Drift } from './drift.ts';
import type { Synced } from './sync.ts';

export function repositoryJson(row: RepositoriesTable, drift: readonly Drift[] = []) {
  const { settings, credential, commits } = row;
  return {
    id: row.repository_id,
    name: settings.name,
    url: settings.url,
    branch: settings.branch,
    folder: settings.folder,
    poll_seconds: settings.pollSeconds,
    mode: settings.mode,
    write_branch: settings.writeBranch ?? null,
    credential:
      credential === null
        ? null
        : credential.kind === 'token'
          ? { kind: credential.kind, username: credential.username }
          : { kind: credential.kind, known_hosts: credential.knownHosts },
    last_commit: commits[0] === undefined ? null : syncedJson(commits[0]),
    drift,
    error:
      row.problem === null || row.failed_at === null
        ? null
        : {
            detail: row.problem,
            commit: row.failed_commit && commitJson(row.failed_commit),
            at: row.failed_at,
          },
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export function commitJson({ hash, author, committedAt, subject, url }: CommitFacts) {
  return { hash, author, committed_at: committedAt, subject, url };
}

export function syncedJson(commit: SyncedCommit) {
  const { syncedAt, created, changed, deleted } = commit;
  return { ...commitJson(commit), synced_at: syncedAt, created, changed, deleted };
}

export function syncJson(synced: Synced, dryRun: boolean) {
  const { counts, items, ...others } = importJson(synced, dryRun);
  return {
    commit: commitJson(synced.commit),
    ...others,
    counts: {
      create: counts.create,
      change: counts.change,
      delete: counts.delete,
      unchanged: counts.unchanged,
    },
    items,
  };
}
