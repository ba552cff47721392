import type { DeliveryId } from '#domain/kernel/ids.ts';
import type { AttemptResult } from './delivery.ts';
import type { DeliveryQueued } from './events.ts';

export type QueueDelivery = DeliveryQueued['data'] & { readonly type: 'QueueDelivery' };

/** One that was recorded already changes nothing. */
export interface RecordAttempt {
  readonly type: 'RecordAttempt';
  readonly deliveryId: DeliveryId;
  /** From 1. */
  readonly attempt: number;
  /** Its end; RFC 3339. */
  readonly at: string;
  readonly result: AttemptResult;
}

export type DeliveryCommand = QueueDelivery | RecordAttempt;
