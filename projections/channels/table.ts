import type { ChannelConfig } from '#domain/channel/channel.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type { Columns } from '../columns.ts';

export interface ChannelsTable {
  readonly channel_id: string;
  readonly stream_version: number;
  readonly name: string;
  readonly enabled: boolean;
  readonly config: ChannelConfig;
  readonly sealed: Sealed | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deleted: boolean;
}

export const channelColumns: Columns<ChannelsTable> = {
  channel_id: 'uuid',
  stream_version: 'bigint',
  name: 'text',
  enabled: 'boolean',
  config: 'jsonb',
  sealed: 'jsonb',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  deleted: 'boolean',
};
