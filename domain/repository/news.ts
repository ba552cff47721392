/** The texts of notifications about repository syncs. */
import type { RepositoryFailureEnded, RepositoryFailureStarted } from './events.ts';

const maxProblem = 300;

export function repositoryNews({ type, data }: RepositoryFailureStarted | RepositoryFailureEnded) {
  const repository = `repository "${data.name}"`;
  const on = 'repository_sync_failed';
  switch (type) {
    case 'RepositoryFailureStarted': {
      const problem = data.problem.slice(0, maxProblem);
      const message = `The ${repository} could not be synced: ${problem}`;
      return { on, level: 'error', message } as const;
    }
    case 'RepositoryFailureEnded': {
      const message =
        data.reason === 'synced'
          ? `The ${repository} is synced again.`
          : `The ${repository}, which could not be synced, was removed.`;
      return { on, level: 'info', message } as const;
    }
  }
}
