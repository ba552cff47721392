import type { ChannelChanged, ChannelCreated, ChannelDeleted } from './events.ts';

export type CreateChannel = ChannelCreated['data'] & { readonly type: 'CreateChannel' };
export type ChangeChannel = ChannelChanged['data'] & {
  readonly type: 'ChangeChannel';
  /** The version that the caller has seen. */
  readonly expectedVersion?: number;
};
export type DeleteChannel = ChannelDeleted['data'] & { readonly type: 'DeleteChannel' };

export type ChannelCommand = CreateChannel | ChangeChannel | DeleteChannel;
