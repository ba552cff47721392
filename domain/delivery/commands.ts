import type { DeliveryId } from '#domain/kernel/ids.ts';
import type { AttemptResult } from './delivery.ts';
import type { DeliveryQueued } from './events.ts';

export type QueueDelivery = DeliveryQueued['data'] & { readonly type: 'QueueDelivery' };

/** Reports the result of one delivery attempt. Repeating the report has no effect. */
export interface RecordAttempt {
  readonly type: 'RecordAttempt';
  readonly deliveryId: DeliveryId;
  /** The attempt number, starting at 1. */
  readonly attempt: number;
  /** When the attempt ended (RFC 3339). */
  readonly at: string;
  readonly result: AttemptResult;
}

export type DeliveryCommand = QueueDelivery | RecordAttempt;
