/** The types of webhooks (contract §3, "Webhook"). */
import type { Sealed } from '#domain/secret/events.ts';
import type { WhenBusy } from '#domain/run/run.ts';

/** The settings that a user chooses for a webhook. */
export interface WebhookSettings {
  readonly name: string;
  readonly enabled: boolean;
  readonly whenBusy: WhenBusy;
  readonly rateLimitPerMinute: number;
}

/** The secret with which senders sign their requests. */
export interface WebhookSigning {
  /** Version of the webhook's signing secret, starting at 1. */
  readonly version: number;
  readonly sealed: Sealed;
}

/** Maximum number of requests in a burst, regardless of the rate limit. */
export const webhookBurst = 20;
