import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import type { Command } from '#domain/aggregates.ts';
import { triggersOn, maxChainDepth } from '#domain/chain/chain.ts';
import type { SkipChain } from '#domain/chain/commands.ts';
import { isChained } from '#domain/run/run.ts';
import type { ChainAfter, Reaction } from './reaction.ts';
import { retryAfter } from './when-run-failed-retry.ts';

/** Starts the downstream scripts of a finished run (contract §3, "Chain"). An attempt that will be retried triggers
 *  no chains. For each source run, a chain either starts a run or records why it started none. The chain is locked
 *  during the decision, so it never does both. */
export const whenRunFinishedStartChained: Reaction = {
  name: 'when-run-finished-start-chained',
  handles: ['RunFinished'],
  react: async (event, reads, newId) => {
    if (event.type !== 'RunFinished') return [];
    const { runId, scriptId, outcome } = event.data;
    const chains = (await reads.chainsAfter(scriptId)).filter(
      (chain) => triggersOn(chain.on, outcome) && chain.activeSince <= event.recordedAt,
    );
    if (chains.length === 0 || (await retryAfter(event.data, reads)) !== undefined) return [];
    const depth = (await reads.depthOf(runId, maxChainDepth)) + 1;
    if (depth > maxChainDepth) {
      return chains.map(({ chainId }) => skip(chainId, runId, 'chain_too_long'));
    }
    const payloadSha256 = await reads.handOver(runId);
    // If triggers are paused, the run waits until they are resumed.
    const held = (await reads.triggersPaused()) && { notBefore: event.recordedAt.toISOString() };
    return chains.map((chain): Command => ({
      type: 'RunScript',
      runId: mustParse(parseRunId, newId(`run${chain.chainId}`)),
      scriptId: chain.targetScriptId,
      trigger: {
        type: 'event',
        cause: 'chain',
        chainId: chain.chainId,
        runId,
        depth,
        payloadSha256,
      },
      paramsSha256: chain.paramsSha256,
      timeoutSeconds: null,
      whenBusy: chain.whenBusy,
      ...held,
    }));
  },
  onRefusal: (command, reason) => {
    if (command.type !== 'RunScript' || !isChained(command.trigger)) return undefined;
    // The chain has already handled the source run, or was disabled in the meantime.
    if (reason === 'already_exists') return undefined;
    return skip(command.trigger.chainId, command.trigger.runId, reason);
  },
};

function skip(
  chainId: ChainAfter['chainId'],
  sourceRunId: SkipChain['sourceRunId'],
  reason: string,
): SkipChain {
  return { type: 'SkipChain', chainId, sourceRunId, reason };
}
