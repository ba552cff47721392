import type { Recorded } from '#domain/aggregates.ts';
import type { WebhookEvent } from '#domain/webhook/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { webhookColumns, type WebhooksTable } from './table.ts';

/** Builds the webhooks. A request is matched to its webhook by the hash of the token. */
export const webhooksProjection: Projection = rowProjection<WebhooksTable, Recorded<WebhookEvent>>({
  name: 'webhooks',
  version: 1,
  table: 'webhooks',
  key: 'webhook_id',
  columns: webhookColumns,
  handles: [
    'WebhookCreated',
    'WebhookChanged',
    'WebhookRotated',
    'WebhookSigningSet',
    'WebhookSigningEnded',
    'WebhookDeleted',
  ],
  keyOf: (event) => event.data.webhookId,
  step: (row, event) => {
    if (event.type === 'WebhookCreated') {
      return {
        webhook_id: event.data.webhookId,
        script_id: event.data.scriptId,
        name: event.data.name,
        enabled: event.data.enabled,
        when_busy: event.data.whenBusy,
        rate_limit_per_minute: event.data.rateLimitPerMinute,
        token_hash: event.data.tokenHash,
        signing: null,
        signing_version: 0,
        created_at: event.recordedAt,
        deleted: false,
      };
    }
    if (row === undefined) return undefined;
    switch (event.type) {
      case 'WebhookChanged': {
        const { data } = event;
        return {
          ...row,
          name: data.name ?? row.name,
          enabled: data.enabled ?? row.enabled,
          when_busy: data.whenBusy ?? row.when_busy,
          rate_limit_per_minute: data.rateLimitPerMinute ?? row.rate_limit_per_minute,
        };
      }
      case 'WebhookRotated':
        return { ...row, token_hash: event.data.tokenHash };
      case 'WebhookSigningSet': {
        const { version, sealed } = event.data;
        return { ...row, signing: { version, sealed }, signing_version: version };
      }
      case 'WebhookSigningEnded':
        return { ...row, signing: null };
      case 'WebhookDeleted':
        return { ...row, deleted: true };
    }
  },
});
