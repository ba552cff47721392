import type { Chain, ChainOccurrence } from '#lib/api/types.ts';
import type { Tone } from '#lib/ui/badge.svelte';

type Condition = Chain['on'];

/** Labels of an outcome: "Success", and in a sentence "succeeds". */
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

/** What a chain did at the end of a run. */
export function describeOccurrence({ outcome, reason }: ChainOccurrence): string {
  if (outcome === 'fired') return 'Started a run.';
  // A newer server may send unknown reasons.
  return reasons[reason ?? ''] ?? reason ?? 'Did not start a run.';
}
