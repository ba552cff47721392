import type { WebhookEvent } from './events.ts';
import type { WebhookSettings } from './webhook.ts';

export type WebhookState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'there';
      readonly settings: WebhookSettings;
      readonly tokenHash: string;
      readonly signing: boolean;
      /** Version of the latest signing secret. 0 if the webhook has never had a signing secret. */
      readonly signingVersion: number;
    }
  | { readonly status: 'deleted' };

export const initialWebhook: WebhookState = { status: 'absent' };

export function evolveWebhook(state: WebhookState, event: WebhookEvent): WebhookState {
  if (event.type === 'WebhookCreated') {
    const { name, enabled, whenBusy, rateLimitPerMinute, tokenHash } = event.data;
    const settings = { name, enabled, whenBusy, rateLimitPerMinute };
    return { status: 'there', settings, tokenHash, signing: false, signingVersion: 0 };
  }
  if (state.status !== 'there') return state;
  switch (event.type) {
    case 'WebhookChanged': {
      const { webhookId: _, ...changes } = event.data;
      return { ...state, settings: { ...state.settings, ...changes } };
    }
    case 'WebhookRotated':
      return { ...state, tokenHash: event.data.tokenHash };
    case 'WebhookSigningSet':
      return { ...state, signing: true, signingVersion: event.data.version };
    case 'WebhookSigningEnded':
      return { ...state, signing: false };
    case 'WebhookDeleted':
      return { status: 'deleted' };
  }
}
