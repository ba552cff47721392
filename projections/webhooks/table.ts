import type { WhenBusy } from '#domain/run/run.ts';
import type { WebhookSigning } from '#domain/webhook/webhook.ts';
import type { Columns } from '../columns.ts';

export interface WebhooksTable {
  readonly webhook_id: string;
  readonly stream_version: number;
  readonly script_id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly when_busy: WhenBusy;
  readonly rate_limit_per_minute: number;
  readonly token_hash: string;
  /** How requests must be signed. `null` if they require no signature. */
  readonly signing: WebhookSigning | null;
  /** Version of the latest signing secret. 0 if the webhook has never had a signing secret. */
  readonly signing_version: number;
  readonly created_at: Date;
  readonly deleted: boolean;
}

export const webhookColumns: Columns<WebhooksTable> = {
  webhook_id: 'uuid',
  stream_version: 'bigint',
  script_id: 'uuid',
  name: 'text',
  enabled: 'boolean',
  when_busy: 'text',
  rate_limit_per_minute: 'integer',
  token_hash: 'text',
  signing: 'jsonb',
  signing_version: 'integer',
  created_at: 'timestamptz',
  deleted: 'boolean',
};
