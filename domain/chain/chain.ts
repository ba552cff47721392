/** The types of chains (contract §3, "Chain"). A chain starts a script when a run of another script ends. */
import type { ChainLink } from '#domain/kernel/aggregate.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { RunFinished } from '#domain/run/events.ts';
import { statusOf, type WhenBusy } from '#domain/run/run.ts';

/** The run outcomes that trigger a chain. `any` includes stopped runs. */
export const chainConditions = ['success', 'failed', 'any'] as const;
export type ChainCondition = (typeof chainConditions)[number];

/** The settings that a user chooses for a chain. */
export interface ChainSettings {
  readonly targetScriptId: ScriptId;
  readonly on: ChainCondition;
  readonly enabled: boolean;
  readonly whenBusy: WhenBusy;
  /** SHA-256 of the parameters as JSON. The parameters are stored separately. */
  readonly paramsSha256: string | null;
}

/** Maximum length of a sequence in which each run triggers the next one, through a chain or a request from its
 *  script. */
export const maxChainDepth = 16;

/** Whether a run outcome triggers a chain with the condition `on`. */
export function triggersOn(on: ChainCondition, outcome: RunFinished['data']['outcome']): boolean {
  return on === 'any' || on === statusOf(outcome);
}

/** Whether a chain from `source` to `target` would close a cycle.
 *  @param links the links of all chains. Disabled links are ignored. */
export function closesCycle(links: readonly ChainLink[], source: string, target: string): boolean {
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
