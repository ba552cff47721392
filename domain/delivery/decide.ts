import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { DeliveryCommand, RecordAttempt } from './commands.ts';
import { pauseAfter } from './delivery.ts';
import type { DeliveryEvent } from './events.ts';
import { evolveDelivery, initialDelivery, type DeliveryState } from './state.ts';

export function decideDelivery(
  state: DeliveryState,
  command: DeliveryCommand,
): Decision<DeliveryEvent> {
  switch (command.type) {
    case 'QueueDelivery': {
      if (state.status !== 'absent') return accept();
      const { type: _, ...data } = command;
      return accept({ type: 'DeliveryQueued', data });
    }
    case 'RecordAttempt':
      if (state.status === 'absent') return refuse('not_found', 'Delivery not found.');
      // Two processes may have made the same attempt. Only the first report counts.
      if (state.status === 'ended' || command.attempt !== state.attempts + 1) return accept();
      return accept(afterAttempt(state, command));
  }
}

function afterAttempt(
  { kind, isTest }: Extract<DeliveryState, { status: 'pending' }>,
  { deliveryId, attempt, at, result }: RecordAttempt,
): DeliveryEvent {
  if (result.kind === 'sent') return { type: 'DeliverySent', data: { deliveryId, attempt } };
  const { error, final, retryAfterSeconds } = result;
  const pause = final || isTest ? undefined : pauseAfter(kind, attempt, retryAfterSeconds);
  if (pause === undefined) return { type: 'DeliveryFailed', data: { deliveryId, attempt, error } };
  const nextAttemptAt = new Date(Date.parse(at) + pause * 1000).toISOString();
  return { type: 'DeliveryDelayed', data: { deliveryId, attempt, error, nextAttemptAt } };
}

export const deliveryAggregate: Aggregate<DeliveryState, DeliveryCommand, DeliveryEvent> = {
  streamType: 'delivery',
  commands: { QueueDelivery: true, RecordAttempt: true },
  events: { DeliveryQueued: true, DeliverySent: true, DeliveryDelayed: true, DeliveryFailed: true },
  initial: initialDelivery,
  evolve: evolveDelivery,
  stateVersion: 1,
  decide: decideDelivery,
  streamOf: (command) => `delivery-${command.deliveryId}`,
  guards: () => [],
  readFacts: () => Promise.resolve(undefined),
};
