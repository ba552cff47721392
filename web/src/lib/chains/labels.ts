import type { Chain, ChainOccurrence } from '#lib/api/types.ts';
import type { Tone } from '#lib/ui/badge.svelte';

type Condition = Chain['on'];

/** Labels for an outcome: "Success" on its own, and "succeeds" in a sentence. */
export const conditions: Record<Condition, { word: string; when: string; tone: Tone }> = {
  success: { word: 'Success', when: 'succeeds', tone: 'success' },
  failed: { word: 'Failure', when: 'fails', tone: 'danger' },
  any: { word: 'Completed', when: 'completes', tone: 'neutral' },
};

const reasons: Record<string, string> = {
  script_disabled: 'The script was disabled.',
  concurrency_limit_reached: 'The script was at its concurrency limit.',
  chain_too_long: 'The chain reached the limit of 16 consecutive runs.',
};

/** Describes how a chain reacted to a finished run. */
export function describeOccurrence({ outcome, reason }: ChainOccurrence): string {
  if (outcome === 'fired') return 'Started a run.';
  // A newer server may send reasons that this version does not recognize.
  return reasons[reason ?? ''] ?? reason ?? 'Did not start a run.';
}
