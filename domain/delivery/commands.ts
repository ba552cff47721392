import type { DeliveryId } from '#domain/kernel/ids.ts';
import type { AttemptResult } from './delivery.ts';
import type { DeliveryQueued } from './events.ts';

export type QueueDelivery = DeliveryQueued['data'] & { readonly type: 'QueueDelivery' };

/** A repeated report of the same attempt changes nothing. */
export interface RecordAttempt {
  readonly type: 'RecordAttempt';
  readonly deliveryId: DeliveryId;
  /** From 1. */
  readonly attempt: number;
  /** When the attempt ended; RFC 3339. */
  readonly at: string;
  readonly result: AttemptResult;
}

export type DeliveryCommand = QueueDelivery | RecordAttempt;
