import type { WebhookDelivery, WebhookDeliveryContent } from '#lib/api/types.ts';
import type { Tone } from '#lib/ui/badge.svelte';

export const deliveryLooks: Record<WebhookDelivery['outcome'], { word: string; tone: Tone }> = {
  queued: { word: 'Accepted', tone: 'success' },
  repeated: { word: 'Duplicate', tone: 'info' },
  refused: { word: 'Rejected', tone: 'danger' },
};

const reasons: Record<string, string> = {
  concurrency_limit_reached: 'The script was at its concurrency limit.',
  invalid_signature: 'The signature was missing or invalid.',
  payload_too_large: 'The body exceeded 1 MiB.',
  rate_limited: 'The rate limit was exceeded.',
  script_disabled: 'The script was disabled.',
  validation_failed: 'The script requires parameters. Webhooks cannot pass parameters.',
  webhook_disabled: 'The webhook was disabled.',
};

/** Describes the outcome of a delivery in one sentence. */
export function describeDelivery({ outcome, reason, redelivery_of }: WebhookDelivery): string {
  if (outcome === 'repeated') return 'Duplicate; returned the original run.';
  if (outcome === 'queued') return redelivery_of ? 'Redelivered.' : 'Queued a run.';
  // A newer server may send reasons that this version does not recognize.
  return reasons[reason ?? ''] ?? reason ?? '';
}

/** Formats the body of a delivery. JSON is indented; binary data is only described. */
export function bodyText({ body, encoding, truncated }: WebhookDeliveryContent): string {
  if (encoding === 'base64') return `Binary data (base64):\n${body}`;
  try {
    return truncated ? body : JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
