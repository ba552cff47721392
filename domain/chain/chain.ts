/** The vocabulary of chains (contract §3, "Chain"): when a run of one script has ended, another script runs. */
import type { ChainLink } from '#domain/kernel/aggregate.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { RunFinished } from '#domain/run/events.ts';
import { statusOf, type WhenBusy } from '#domain/run/run.ts';

/** Which ends of a run count; `any` is all of them, that of a stopped run too. */
export const chainConditions = ['success', 'failed', 'any'] as const;
export type ChainCondition = (typeof chainConditions)[number];

/** What its author decides. */
export interface ChainSettings {
  readonly targetScriptId: ScriptId;
  readonly on: ChainCondition;
  readonly enabled: boolean;
  readonly whenBusy: WhenBusy;
  /** SHA-256 of the parameters' JSON, which is kept apart. */
  readonly paramsSha256: string | null;
}

/** Runs that cause runs, one after the other: by chains, or by asking for them. */
export const maxChainDepth = 16;

/** Whether a chain answers to an end like that. */
export function answersTo(on: ChainCondition, outcome: RunFinished['data']['outcome']): boolean {
  return on === 'any' || on === statusOf(outcome);
}

/** Whether a chain from `source` to `target` would lead back to where it began.
 *  @param links of all chains; those that are switched off lead nowhere */
export function makesRing(links: readonly ChainLink[], source: string, target: string): boolean {
  const targets = Map.groupBy(
    links.filter((link) => link.enabled),
    (link) => link.sourceScriptId,
  );
  const reached = new Set([target]);
  for (const scriptId of reached) {
    for (const link of targets.get(scriptId) ?? []) reached.add(link.targetScriptId);
  }
  return reached.has(source);
}
