/** Facts of a webhook, in streams `webhook-<id>`. Stored for good: a type is never renamed and a field never
 *  changes its meaning. Its token is here as a hash only, the secret that callers sign with as ciphertext. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ScriptId, WebhookId } from '#domain/kernel/ids.ts';
import type { WebhookSettings, WebhookSigning } from './webhook.ts';

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

/** Calls have to be signed with this secret from now on. */
export type WebhookSigningSet = DomainEvent<
  'WebhookSigningSet',
  { readonly webhookId: WebhookId } & WebhookSigning
>;

/** Calls need no signature any more. */
export type WebhookSigningEnded = DomainEvent<
  'WebhookSigningEnded',
  { readonly webhookId: WebhookId }
>;

export type WebhookDeleted = DomainEvent<'WebhookDeleted', { readonly webhookId: WebhookId }>;

export type WebhookEvent =
  | WebhookCreated
  | WebhookChanged
  | WebhookRotated
  | WebhookSigningSet
  | WebhookSigningEnded
  | WebhookDeleted;
