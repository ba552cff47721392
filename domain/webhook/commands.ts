import type { WebhookId } from '#domain/kernel/ids.ts';
import type { WebhookCreated, WebhookDeleted, WebhookRotated } from './events.ts';
import type { WebhookSettings } from './webhook.ts';

export type CreateWebhook = WebhookCreated['data'] & { readonly type: 'CreateWebhook' };

export interface ChangeWebhook {
  readonly type: 'ChangeWebhook';
  readonly webhookId: WebhookId;
  /** Settings that are absent stay as they are. */
  readonly changes: Partial<WebhookSettings>;
}

export type RotateWebhook = WebhookRotated['data'] & { readonly type: 'RotateWebhook' };
export type DeleteWebhook = WebhookDeleted['data'] & { readonly type: 'DeleteWebhook' };

export type WebhookCommand = CreateWebhook | ChangeWebhook | RotateWebhook | DeleteWebhook;
