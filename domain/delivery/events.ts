/** Facts of a delivery, in streams `delivery-<id>`. Stored for good: a type is never renamed and a field never
 *  changes its meaning. */
import type { ChannelKind } from '#domain/channel/channel.ts';
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ChannelId, DeliveryId, RuleId } from '#domain/kernel/ids.ts';
import type { Told } from './delivery.ts';

export type DeliveryQueued = DomainEvent<
  'DeliveryQueued',
  {
    readonly deliveryId: DeliveryId;
    readonly channelId: ChannelId;
    /** Of the channel. */
    readonly kind: ChannelKind;
    /** `null`: somebody tries the channel. */
    readonly ruleId: RuleId | null;
    readonly told: Told;
  }
>;

export type DeliverySent = DomainEvent<
  'DeliverySent',
  { readonly deliveryId: DeliveryId; readonly attempt: number }
>;

/** An attempt that failed; another follows. */
export type DeliveryDelayed = DomainEvent<
  'DeliveryDelayed',
  {
    readonly deliveryId: DeliveryId;
    readonly attempt: number;
    readonly error: string;
    /** RFC 3339. */
    readonly nextAttemptAt: string;
  }
>;

/** The last attempt failed. */
export type DeliveryFailed = DomainEvent<
  'DeliveryFailed',
  { readonly deliveryId: DeliveryId; readonly attempt: number; readonly error: string }
>;

export type DeliveryEvent = DeliveryQueued | DeliverySent | DeliveryDelayed | DeliveryFailed;
