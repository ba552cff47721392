import type { WebhookId } from '#domain/kernel/ids.ts';
import type { WebhookCreated, WebhookDeleted, WebhookRotated } from './events.ts';
import type { WebhookSettings, WebhookSigning } from './webhook.ts';

export type CreateWebhook = WebhookCreated['data'] & {
  readonly type: 'CreateWebhook';
  /** Absent: calls need no signature. */
  readonly signing?: WebhookSigning;
};

export interface ChangeWebhook {
  readonly type: 'ChangeWebhook';
  readonly webhookId: WebhookId;
  /** Settings that are absent stay as they are. */
  readonly changes: Partial<WebhookSettings>;
  /** Another secret, or `null` for none from now on. Absent: as it is. */
  readonly signing?: WebhookSigning | null;
}

export type RotateWebhook = WebhookRotated['data'] & { readonly type: 'RotateWebhook' };
export type DeleteWebhook = WebhookDeleted['data'] & { readonly type: 'DeleteWebhook' };

export type WebhookCommand = CreateWebhook | ChangeWebhook | RotateWebhook | DeleteWebhook;
