/** Reads of reactions without any data; tests override what they need. */
import type { ReactionReads } from '#domain/reactions/reaction.ts';

const unexpectedRead = () => Promise.reject(new Error('unexpected read'));

export function reactionReads(known: Partial<ReactionReads> = {}): ReactionReads {
  return {
    activeRuns: nobodyAsks,
    membersOf: nobodyAsks,
    pastRun: nobodyAsks,
    resolvedErrorGroup: nobodyAsks,
    retryRules: nobodyAsks,
    listeners: nobodyAsks,
    platformListeners: nobodyAsks,
    endingsBefore: nobodyAsks,
    chainsAfter: nobodyAsks,
    triggersPaused: nobodyAsks,
    depthOf: nobodyAsks,
    handOver: nobodyAsks,
    ...known,
  };
}
