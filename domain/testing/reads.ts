/** Reads for reactions. Every read that a test does not define fails. */
import type { ReactionReads } from '#domain/reactions/reaction.ts';

const unexpectedRead = () => Promise.reject(new Error('unexpected read'));

export function reactionReads(known: Partial<ReactionReads> = {}): ReactionReads {
  return {
    activeRuns: unexpectedRead,
    membersOf: unexpectedRead,
    pastRun: unexpectedRead,
    resolvedErrorGroup: unexpectedRead,
    errorGroupOf: unexpectedRead,
    errorOccurrences: unexpectedRead,
    scriptOfRun: unexpectedRead,
    retryRules: unexpectedRead,
    listeners: unexpectedRead,
    groupListeners: unexpectedRead,
    platformListeners: unexpectedRead,
    endingsBefore: unexpectedRead,
    chainsAfter: unexpectedRead,
    triggersPaused: unexpectedRead,
    depthOf: unexpectedRead,
    handOver: unexpectedRead,
    ...known,
  };
}
