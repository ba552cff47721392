import type { Recorded } from '#domain/aggregates.ts';
import type { DeliveryEvent } from '#domain/delivery/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { deliveryColumns, type DeliveriesTable } from './table.ts';

/** Builds the deliveries and the times of their next attempts. */
export const deliveriesProjection: Projection = rowProjection<
  DeliveriesTable,
  Recorded<DeliveryEvent>
>({
  name: 'deliveries',
  version: 1,
  table: 'deliveries',
  key: 'delivery_id',
  columns: deliveryColumns,
  kept: ['leased_until', 'leased_attempts'],
  handles: ['DeliveryQueued', 'DeliverySent', 'DeliveryDelayed', 'DeliveryFailed'],
  keyOf: (event) => event.data.deliveryId,
  step: (row, event) => {
    if (event.type === 'DeliveryQueued') {
      const { deliveryId, channelId, ruleId, told } = event.data;
      return {
        delivery_id: deliveryId,
        channel_id: channelId,
        rule_id: ruleId,
        told,
        status: 'pending',
        attempts: 0,
        last_error: null,
        queued_at: event.recordedAt,
        next_attempt_at: event.recordedAt,
        ended_at: null,
      };
    }
    if (row === undefined) return undefined;
    const ended = { next_attempt_at: null, ended_at: event.recordedAt };
    switch (event.type) {
      case 'DeliverySent':
        return { ...row, ...ended, status: 'sent', attempts: event.data.attempt, last_error: null };
      case 'DeliveryDelayed': {
        const { attempt, error, nextAttemptAt } = event.data;
        const next_attempt_at = new Date(nextAttemptAt);
        return { ...row, attempts: attempt, last_error: error, next_attempt_at };
      }
      case 'DeliveryFailed': {
        const { attempt, error } = event.data;
        return { ...row, ...ended, status: 'failed', attempts: attempt, last_error: error };
      }
    }
  },
});
