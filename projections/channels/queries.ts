import type { ChannelId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import type { ChannelsTable } from './table.ts';

/** Returns a channel, or `undefined` if it does not exist. */
export async function findChannel(
  db: ReadModels,
  channelId: ChannelId,
): Promise<ChannelsTable | undefined> {
  return await present(db).where('channel_id', '=', channelId).executeTakeFirst();
}

/** Lists channels, newest first, starting after `after`. Returns at most `limit` channels. */
export async function listChannels(
  db: ReadModels,
  after: ChannelId | undefined,
  limit: number,
): Promise<readonly ChannelsTable[]> {
  let query = present(db).orderBy('channel_id', 'desc').limit(limit);
  if (after !== undefined) query = query.where('channel_id', '<', after);
  return await query.execute();
}

function present(db: ReadModels) {
  return db.selectFrom('notification_channels').selectAll().where('deleted', '=', false);
}
