import type { ChannelId, DeliveryId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import type { DeliveriesTable } from './table.ts';

const columns = [
  'delivery_id',
  'stream_version',
  'channel_id',
  'rule_id',
  'told',
  'status',
  'attempts',
  'last_error',
  'queued_at',
  'next_attempt_at',
  'ended_at',
] as const;

/** Returns a delivery, or `undefined` if it does not exist. */
export async function findDelivery(
  db: ReadModels,
  deliveryId: DeliveryId,
): Promise<DeliveriesTable | undefined> {
  return await db
    .selectFrom('deliveries')
    .select(columns)
    .where('delivery_id', '=', deliveryId)
    .executeTakeFirst();
}

export interface DeliveryFilter {
  readonly channelId?: ChannelId;
  readonly status?: DeliveriesTable['status'];
}

/** Lists deliveries, newest first, starting after `after`. Returns at most `limit` deliveries. */
export async function listDeliveries(
  db: ReadModels,
  { channelId, status }: DeliveryFilter,
  after: DeliveryId | undefined,
  limit: number,
): Promise<readonly DeliveriesTable[]> {
  let query = db.selectFrom('deliveries').select(columns).orderBy('delivery_id', 'desc');
  if (channelId !== undefined) query = query.where('channel_id', '=', channelId);
  if (status !== undefined) query = query.where('status', '=', status);
  if (after !== undefined) query = query.where('delivery_id', '<', after);
  return await query.limit(limit).execute();
}
