/** Events of a notification channel, in streams `channel-<id>`. Permanent: never rename a type or change the meaning
 *  of a field. Secrets are stored only as ciphertext. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ChannelId } from '#domain/kernel/ids.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type { ChannelSettings } from './channel.ts';

export type ChannelCreated = DomainEvent<
  'ChannelCreated',
  ChannelSettings & { readonly channelId: ChannelId; readonly sealed: Sealed | null }
>;

/** Settings were changed. Settings that are absent keep their values. */
export type ChannelChanged = DomainEvent<
  'ChannelChanged',
  Partial<ChannelSettings> & { readonly channelId: ChannelId; readonly sealed?: Sealed | null }
>;

export type ChannelDeleted = DomainEvent<'ChannelDeleted', { readonly channelId: ChannelId }>;

export type ChannelEvent = ChannelCreated | ChannelChanged | ChannelDeleted;
