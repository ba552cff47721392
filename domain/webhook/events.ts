/** Facts of a webhook, in streams `webhook-<id>`. Stored for good: a type is never renamed and a field never
 *  changes its meaning. Its token is here as a hash only. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ScriptId, WebhookId } from '#domain/kernel/ids.ts';
import type { WebhookSettings } from './webhook.ts';

export type WebhookCreated = DomainEvent<
  'WebhookCreated',
  WebhookSettings & {
    readonly webhookId: WebhookId;
    readonly scriptId: ScriptId;
    /** SHA-256 of the token, lower-case hex. */
    readonly tokenHash: string;
  }
>;

/** Settings that are absent stay as they were. */
export type WebhookChanged = DomainEvent<
  'WebhookChanged',
  Partial<WebhookSettings> & { readonly webhookId: WebhookId }
>;

/** Another token; the one before counts no longer. */
export type WebhookRotated = DomainEvent<
  'WebhookRotated',
  { readonly webhookId: WebhookId; readonly tokenHash: string }
>;

export type WebhookDeleted = DomainEvent<'WebhookDeleted', { readonly webhookId: WebhookId }>;

export type WebhookEvent = WebhookCreated | WebhookChanged | WebhookRotated | WebhookDeleted;
