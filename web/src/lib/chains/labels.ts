import type { Chain, ChainOccurrence } from '#lib/api/types.ts';
import type { Tone } from '#lib/ui/badge.svelte';

type Condition = Chain['on'];

/** Of an end that counts: "Success", and in a sentence "succeeds". */
export const conditions: Record<Condition, { word: string; when: string; tone: Tone }> = {
  success: { word: 'Success', when: 'succeeds', tone: 'success' },
  failed: { word: 'Failure', when: 'fails', tone: 'danger' },
  any: { word: 'Any end', when: 'ends, however it does', tone: 'neutral' },
};

const reasons: Record<string, string> = {
  script_disabled: 'The script was disabled.',
  concurrency_limit_reached: 'The script was at its limit of runs.',
  chain_too_long: 'Runs had caused one another 16 times.',
};

/** What a chain did at the end of a run. */
export function answerWords({ outcome, reason }: ChainOccurrence): string {
  if (outcome === 'fired') return 'A run was started.';
  // A server newer than this page may know more reasons.
  return reasons[reason ?? ''] ?? reason ?? 'No run was started.';
}
