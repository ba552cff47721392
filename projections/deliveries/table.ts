import type { NotificationContent } from '#domain/delivery/delivery.ts';
import type { Columns } from '../columns.ts';

export const deliveryStatuses = ['pending', 'sent', 'failed'] as const;

export interface DeliveriesTable {
  readonly delivery_id: string;
  readonly stream_version: number;
  readonly channel_id: string;
  readonly rule_id: string | null;
  readonly told: NotificationContent;
  readonly status: (typeof deliveryStatuses)[number];
  readonly attempts: number;
  readonly last_error: string | null;
  readonly queued_at: Date;
  /** When the next attempt is due. `null` after the delivery has ended. */
  readonly next_attempt_at: Date | null;
  readonly ended_at: Date | null;
}

export const deliveryColumns: Columns<DeliveriesTable> = {
  delivery_id: 'uuid',
  stream_version: 'bigint',
  channel_id: 'uuid',
  rule_id: 'uuid',
  told: 'jsonb',
  status: 'text',
  attempts: 'integer',
  last_error: 'text',
  queued_at: 'timestamptz',
  next_attempt_at: 'timestamptz',
  ended_at: 'timestamptz',
};
