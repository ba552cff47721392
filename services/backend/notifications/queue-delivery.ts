/** Queues notification deliveries. */
import type { QueueDelivery } from '#domain/delivery/commands.ts';
import { mustParse, parseDeliveryId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { findDelivery } from '#projections/deliveries/queries.ts';
import { accepted, writtenId } from '../http/outcome.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { json, type Answer } from '../http/reply.ts';
import type { Services } from '../services.ts';
import { deliveryJson } from './view.ts';

export const deliveriesPath = '/api/v1/notifications/deliveries';

/** Queues a delivery and responds with it. */
export async function queueDelivery(
  wanted: Omit<QueueDelivery, 'type' | 'deliveryId'>,
  context: CommandContext,
  { commands, ids, readModels }: Services,
): Promise<Answer> {
  const deliveryId = mustParse(parseDeliveryId, ids.next());
  const command = { type: 'QueueDelivery', deliveryId, ...wanted } as const;
  const outcome = accepted(await commands.execute(command, context));
  if (isProblem(outcome)) return outcome;
  // A repeated request gets the delivery that the first request queued.
  const queued = writtenId(outcome, parseDeliveryId);
  const delivery = await findDelivery(readModels, queued);
  if (delivery === undefined) return notFound;
  return json(202, deliveryJson(delivery), { Location: `${deliveriesPath}/${queued}` });
}
