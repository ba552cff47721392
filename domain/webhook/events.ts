/** Events of a webhook, in streams `webhook-<id>`. Permanent: never rename a type or change the meaning of a field.
 *  Only a hash of the token is stored. The signing secret is stored only as ciphertext. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ScriptId, WebhookId } from '#domain/kernel/ids.ts';
import type { WebhookSettings, WebhookSigning } from './webhook.ts';

export type WebhookCreated = DomainEvent<
  'WebhookCreated',
  WebhookSettings & {
    readonly webhookId: WebhookId;
    readonly scriptId: ScriptId;
    /** SHA-256 of the token, in lower-case hex. */
    readonly tokenHash: string;
  }
>;

/** Settings were changed. Settings that are absent keep their values. */
export type WebhookChanged = DomainEvent<
  'WebhookChanged',
  Partial<WebhookSettings> & { readonly webhookId: WebhookId }
>;

/** The token was rotated. The previous token became invalid. */
export type WebhookRotated = DomainEvent<
  'WebhookRotated',
  { readonly webhookId: WebhookId; readonly tokenHash: string }
>;

/** A signing secret was set. From now on, requests must be signed with this secret. */
export type WebhookSigningSet = DomainEvent<
  'WebhookSigningSet',
  { readonly webhookId: WebhookId } & WebhookSigning
>;

/** The signing secret was removed. Requests no longer require a signature. */
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
