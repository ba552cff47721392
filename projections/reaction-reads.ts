/** Implements the queries of reactions. They read the read models. */
import { mustParse, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import type { ReactionReads } from '#domain/reactions/reaction.ts';
import { payloadOf } from '#domain/run/run.ts';
import { chainsAfter } from './chains/queries.ts';
import { errorGroupsOf, errorOccurrences, resolvedErrorGroupOf } from './error-groups/queries.ts';
import type { ReadModels } from './projection.ts';
import { causeDepth } from './runs/cause-depth.ts';
import { triggerState } from './trigger-state/queries.ts';
import { listenersOf, listenersOfGroup, listenersOfPlatform } from './rules/queries.ts';
import { membersOf } from './users/queries.ts';
import { activeRuns, endingsBefore, findRun, planOf } from './runs/queries.ts';

/** @param handOver stores the payload that a finished run passes to downstream runs */
export function reactionReads(db: ReadModels, handOver: ReactionReads['handOver']): ReactionReads {
  return {
    activeRuns: async (scriptId) =>
      (await activeRuns(db, scriptId)).map((run) => ({
        runId: mustParse(parseRunId, run.run_id),
        status: run.status === 'queued' ? 'queued' : 'running',
        queuedAt: run.queued_at,
      })),
    membersOf: (groupId) => membersOf(db, groupId),
    pastRun: async (runId) => {
      const run = await findRun(db, runId);
      return (
        run && {
          plan: planOf(run),
          paramsSha256: run.params_sha256,
          payloadSha256: payloadOf(run.trigger),
          attempt: run.attempt,
          stopRequested: run.stop_requested,
        }
      );
    },
    resolvedErrorGroup: (runId) => resolvedErrorGroupOf(db, runId),
    errorGroupOf: async (runId) => (await errorGroupsOf(db, [runId])).get(runId),
    errorOccurrences: (runId, most) => errorOccurrences(db, runId, most),
    scriptOfRun: async (runId) => {
      const run = await findRun(db, runId);
      return run && mustParse(parseScriptId, run.script_id);
    },
    retryRules: (scriptId) =>
      db
        .selectFrom('scripts')
        .select(['retry', 'keep_alive as keepAlive'])
        .where('script_id', '=', scriptId)
        .executeTakeFirst(),
    listeners: (scriptId, before) => listenersOf(db, scriptId, before),
    groupListeners: (groupId, before) => listenersOfGroup(db, groupId, before),
    platformListeners: (before) => listenersOfPlatform(db, before),
    endingsBefore: (scriptId, runId, limit) => endingsBefore(db, scriptId, runId, limit),
    chainsAfter: (scriptId) => chainsAfter(db, scriptId),
    triggersPaused: async () => (await triggerState(db))?.paused ?? false,
    depthOf: (runId, most) => causeDepth(db, runId, most),
    handOver,
  };
}
