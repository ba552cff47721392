/** Facts of a notification channel, in streams `channel-<id>`. Stored for good: a type is never renamed and a
 *  field never changes its meaning. What must not be known of it is here as ciphertext only. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ChannelId } from '#domain/kernel/ids.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type { ChannelSettings } from './channel.ts';

export type ChannelCreated = DomainEvent<
  'ChannelCreated',
  ChannelSettings & { readonly channelId: ChannelId; readonly sealed: Sealed | null }
>;

/** What is absent stays as it was. */
export type ChannelChanged = DomainEvent<
  'ChannelChanged',
  Partial<ChannelSettings> & { readonly channelId: ChannelId; readonly sealed?: Sealed | null }
>;

export type ChannelDeleted = DomainEvent<'ChannelDeleted', { readonly channelId: ChannelId }>;

export type ChannelEvent = ChannelCreated | ChannelChanged | ChannelDeleted;
