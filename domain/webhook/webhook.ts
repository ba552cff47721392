/** The vocabulary of webhooks (contract §3, "Webhook"). */
import type { WhenBusy } from '#domain/run/run.ts';

/** What its author decides. */
export interface WebhookSettings {
  readonly name: string;
  readonly enabled: boolean;
  readonly whenBusy: WhenBusy;
  readonly rateLimitPerMinute: number;
}

/** Calls that may come at once, whatever the rate. */
export const webhookBurst = 20;
