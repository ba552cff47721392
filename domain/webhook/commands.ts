import type { WebhookId } from '#domain/kernel/ids.ts';
import type { WebhookCreated, WebhookDeleted, WebhookRotated } from './events.ts';
import type { WebhookSettings, WebhookSigning } from './webhook.ts';

export type CreateWebhook = WebhookCreated['data'] & {
  readonly type: 'CreateWebhook';
  /** Absent: requests need no signature. */
  readonly signing?: WebhookSigning;
  /** Accepts a script that is still deleted because its restoration waits for an approval. */
  readonly mayBeDeleted?: boolean;
};

export interface ChangeWebhook {
  readonly type: 'ChangeWebhook';
  readonly webhookId: WebhookId;
  /** Absent settings keep their values. */
  readonly changes: Partial<WebhookSettings>;
  /** A new secret, or `null` to remove the secret. Absent: unchanged. */
  readonly signing?: WebhookSigning | null;
}

export type RotateWebhook = WebhookRotated['data'] & { readonly type: 'RotateWebhook' };
export type DeleteWebhook = WebhookDeleted['data'] & { readonly type: 'DeleteWebhook' };

export type WebhookCommand = CreateWebhook | ChangeWebhook | RotateWebhook | DeleteWebhook;
