import type { WebhookId } from '#domain/kernel/ids.ts';
import type { WebhookCreated, WebhookDeleted, WebhookRotated } from './events.ts';
import type { WebhookSettings, WebhookSigning } from './webhook.ts';

export type CreateWebhook = WebhookCreated['data'] & {
  readonly type: 'CreateWebhook';
  /** The signing secret. If absent, requests require no signature. */
  readonly signing?: WebhookSigning;
  /** Whether the script may be deleted. True if restoring it requires an approval that is still pending. */
  readonly mayBeDeleted?: boolean;
};

export interface ChangeWebhook {
  readonly type: 'ChangeWebhook';
  readonly webhookId: WebhookId;
  /** The settings to change. Settings that are absent keep their values. */
  readonly changes: Partial<WebhookSettings>;
  /** A new signing secret. `null` removes the secret. If absent, the secret is unchanged. */
  readonly signing?: WebhookSigning | null;
}

export type RotateWebhook = WebhookRotated['data'] & { readonly type: 'RotateWebhook' };
export type DeleteWebhook = WebhookDeleted['data'] & { readonly type: 'DeleteWebhook' };

export type WebhookCommand = CreateWebhook | ChangeWebhook | RotateWebhook | DeleteWebhook;
