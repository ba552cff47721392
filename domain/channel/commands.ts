import type { ChannelChanged, ChannelCreated, ChannelDeleted } from './events.ts';

export type CreateChannel = ChannelCreated['data'] & { readonly type: 'CreateChannel' };
export type ChangeChannel = ChannelChanged['data'] & {
  readonly type: 'ChangeChannel';
  /** The version on which the client based the change. */
  readonly expectedVersion?: number;
};
export type DeleteChannel = ChannelDeleted['data'] & { readonly type: 'DeleteChannel' };

export type ChannelCommand = CreateChannel | ChangeChannel | DeleteChannel;
