import type { Sealed } from '#domain/secret/events.ts';
import type { ChannelSettings } from './channel.ts';
import type { ChannelEvent } from './events.ts';

export type ChannelState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'there';
      readonly version: number;
      readonly settings: ChannelSettings;
      readonly sealed: Sealed | null;
    }
  | { readonly status: 'deleted' };

export const initialChannel: ChannelState = { status: 'absent' };

export function evolveChannel(
  state: ChannelState,
  event: ChannelEvent,
  version: number,
): ChannelState {
  if (event.type === 'ChannelCreated') {
    const { name, enabled, config, sealed } = event.data;
    return { status: 'there', version, settings: { name, enabled, config }, sealed };
  }
  if (state.status !== 'there') return state;
  switch (event.type) {
    case 'ChannelChanged': {
      const { channelId: _, sealed = state.sealed, ...changes } = event.data;
      return { status: 'there', version, settings: { ...state.settings, ...changes }, sealed };
    }
    case 'ChannelDeleted':
      return { status: 'deleted' };
  }
}
