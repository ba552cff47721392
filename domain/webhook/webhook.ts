/** The vocabulary of webhooks (contract §3, "Webhook"). */
import type { Sealed } from '#domain/secret/events.ts';
import type { WhenBusy } from '#domain/run/run.ts';

/** What its author decides. */
export interface WebhookSettings {
  readonly name: string;
  readonly enabled: boolean;
  readonly whenBusy: WhenBusy;
  readonly rateLimitPerMinute: number;
}

/** The secret that callers sign with. */
export interface WebhookSigning {
  /** Counts the webhook's secrets from 1. */
  readonly version: number;
  readonly sealed: Sealed;
}

/** Calls that may come at once, whatever the rate. */
export const webhookBurst = 20;
