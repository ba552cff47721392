import type { WhenBusy } from '#domain/run/run.ts';
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
  created_at: 'timestamptz',
  deleted: 'boolean',
};
