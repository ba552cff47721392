import type { ChannelKind } from '#domain/channel/channel.ts';
import type { DeliveryEvent } from './events.ts';

export type DeliveryState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'pending';
      readonly kind: ChannelKind;
      readonly isTest: boolean;
      readonly attempts: number;
    }
  | { readonly status: 'ended' };

export const initialDelivery: DeliveryState = { status: 'absent' };

export function evolveDelivery(state: DeliveryState, event: DeliveryEvent): DeliveryState {
  switch (event.type) {
    case 'DeliveryQueued': {
      const { kind, ruleId } = event.data;
      return { status: 'pending', kind, isTest: ruleId === null, attempts: 0 };
    }
    case 'DeliveryDelayed':
      return state.status === 'pending' ? { ...state, attempts: event.data.attempt } : state;
    case 'DeliverySent':
    case 'DeliveryFailed':
      return { status: 'ended' };
  }
}
