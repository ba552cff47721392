/** Look-ups of reactions that know nothing, to be filled where a test cares. */
import type { ReactionReads } from '#domain/reactions/reaction.ts';

const nobodyAsks = () => Promise.reject(new Error('nobody asks'));

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
