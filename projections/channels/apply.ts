import type { Recorded } from '#domain/aggregates.ts';
import type { ChannelEvent } from '#domain/channel/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { channelColumns, type ChannelsTable } from './table.ts';

/** Builds the notification channels. */
export const channelsProjection: Projection = rowProjection<ChannelsTable, Recorded<ChannelEvent>>({
  name: 'notification_channels',
  version: 1,
  table: 'notification_channels',
  key: 'channel_id',
  columns: channelColumns,
  handles: ['ChannelCreated', 'ChannelChanged', 'ChannelDeleted'],
  keyOf: (event) => event.data.channelId,
  step: (row, event) => {
    if (event.type === 'ChannelCreated') {
      const { channelId, name, enabled, config, sealed } = event.data;
      const at = event.recordedAt;
      return {
        channel_id: channelId,
        name,
        enabled,
        config,
        sealed,
        created_at: at,
        updated_at: at,
        deleted: false,
      };
    }
    if (row === undefined) return undefined;
    switch (event.type) {
      case 'ChannelChanged': {
        const { channelId: _, ...changes } = event.data;
        return { ...row, ...changes, updated_at: event.recordedAt };
      }
      case 'ChannelDeleted':
        return { ...row, sealed: null, deleted: true, updated_at: event.recordedAt };
    }
  },
});
