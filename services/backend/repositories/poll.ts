/** Syncs the repositories that are due: after a webhook call, after a change to their settings, and at their polling
 *  interval. */
import { mustParse, parseRepositoryId } from '#domain/kernel/ids.ts';
import { systemContext } from '#domain/ports/commands.ts';
import { dueRepositories } from '#infra/postgres/operations/repository-checks.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';
import { isProblem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import { syncRepository } from './sync.ts';

/** Polls often, because a webhook call wakes only the backend that received it. */
const everyMs = 5_000;

export function startRepositoryPolling(services: Services): Loop {
  return startLoop({
    name: 'repositories',
    everyMs,
    runOnce: async (signal) => await syncDueRepositories(services, signal),
    logger: services.logger,
  });
}

/** Syncs all repositories that are due. If one sync fails, the others continue. */
export async function syncDueRepositories(services: Services, signal: AbortSignal): Promise<void> {
  const { database, ids, logger, publicUrl = '' } = services;
  for (const id of await dueRepositories(database)) {
    if (signal.aborted) return;
    const repositoryId = mustParse(parseRepositoryId, id);
    const context = systemContext('repositories', ids.next());
    const sync = {
      dryRun: false,
      onlyNew: true,
      discard: false,
      lockTimeoutMs: 0,
      origin: publicUrl,
      context,
      signal,
    };
    try {
      const done = await syncRepository({ ...sync, repositoryId }, services);
      if (isProblem(done) && done.code !== 'sync_in_progress')
        logger.warn({ repositoryId, problem: done.detail }, 'a repository could not be synced');
      else if (done !== undefined && !isProblem(done))
        logger.info({ repositoryId, commit: done.commit.hash }, 'a repository was synced');
    } catch (error) {
      if (signal.aborted) return;
      logger.error({ repositoryId, error }, 'a repository could not be synced');
    }
  }
}
