import type { WebhookDelivery } from '#lib/api/types.ts';
import type { Tone } from '#lib/ui/badge.svelte';

export const deliveryLooks: Record<WebhookDelivery['outcome'], { word: string; tone: Tone }> = {
  queued: { word: 'Taken', tone: 'success' },
  repeated: { word: 'Repeated', tone: 'info' },
  refused: { word: 'Refused', tone: 'danger' },
};

const reasons: Record<string, string> = {
  concurrency_limit_reached: 'The script was at its limit of runs.',
  invalid_signature: 'It was not signed, or the signature did not hold.',
  payload_too_large: 'The body is over 1 MiB.',
  rate_limited: 'More calls came than the limit allows.',
  script_disabled: 'The script was disabled.',
  validation_failed: 'The script wants parameters, which a webhook has none of.',
  webhook_disabled: 'The webhook was disabled.',
};

/** What became of a call, in a sentence. */
export function deliveryWords({ outcome, reason, redelivery_of }: WebhookDelivery): string {
  if (outcome === 'repeated') return 'It came before, and was told of the run of then.';
  if (outcome === 'queued') return redelivery_of ? 'Delivered again.' : 'A run was queued.';
  // A server newer than this page may know more reasons.
  return reasons[reason ?? ''] ?? reason ?? '';
}
