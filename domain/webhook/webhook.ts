/** The types of webhooks (contract §3, "Webhook"). */
import type { Sealed } from '#domain/secret/events.ts';
import type { WhenBusy } from '#domain/run/run.ts';

/** The settings that a user chooses. */
export interface WebhookSettings {
  readonly name: string;
  readonly enabled: boolean;
  readonly whenBusy: WhenBusy;
  readonly rateLimitPerMinute: number;
}

/** The secret that signs requests. */
export interface WebhookSigning {
  /** Counts the webhook's secrets, from 1. */
  readonly version: number;
  readonly sealed: Sealed;
}

/** Maximum burst of requests, regardless of the rate. */
export const webhookBurst = 20;
