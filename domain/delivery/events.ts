/** Events of a delivery, in streams `delivery-<id>`. Permanent: never rename a type or change the meaning of a
 *  field. */
import type { ChannelKind } from '#domain/channel/channel.ts';
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ChannelId, DeliveryId, RuleId } from '#domain/kernel/ids.ts';
import type { NotificationContent } from './delivery.ts';

export type DeliveryQueued = DomainEvent<
  'DeliveryQueued',
  {
    readonly deliveryId: DeliveryId;
    readonly channelId: ChannelId;
    /** The channel type. */
    readonly kind: ChannelKind;
    /** `null` if a user sent a test notification. */
    readonly ruleId: RuleId | null;
    readonly told: NotificationContent;
  }
>;

export type DeliverySent = DomainEvent<
  'DeliverySent',
  { readonly deliveryId: DeliveryId; readonly attempt: number }
>;

/** An attempt failed, and another attempt follows. */
export type DeliveryDelayed = DomainEvent<
  'DeliveryDelayed',
  {
    readonly deliveryId: DeliveryId;
    readonly attempt: number;
    readonly error: string;
    /** In RFC 3339 format. */
    readonly nextAttemptAt: string;
  }
>;

/** The last attempt failed, and no attempt follows. */
export type DeliveryFailed = DomainEvent<
  'DeliveryFailed',
  { readonly deliveryId: DeliveryId; readonly attempt: number; readonly error: string }
>;

export type DeliveryEvent = DeliveryQueued | DeliverySent | DeliveryDelayed | DeliveryFailed;
