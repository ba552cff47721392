/** The vocabulary of notification channels (contract §3, "Notification"). */
import type { GroupId } from '#domain/kernel/ids.ts';

export const channelKinds = ['email', 'messaging', 'webhook', 'in_app'] as const;
export type ChannelKind = (typeof channelKinds)[number];

export const mailSecurities = ['starttls', 'tls', 'none'] as const;
export type MailSecurity = (typeof mailSecurities)[number];

export const chatServices = ['slack', 'discord', 'mattermost'] as const;
export type ChatService = (typeof chatServices)[number];

/** Where a channel leads, without what must not be known of it: that is sealed apart. */
export type ChannelConfig =
  | {
      readonly kind: 'email';
      readonly host: string;
      readonly port: number;
      readonly security: MailSecurity;
      readonly username: string | null;
      readonly from: string;
      readonly to: readonly string[];
    }
  /** @remarks `server` is that of the Bot API. */
  | {
      readonly kind: 'messaging';
      readonly service: 'telegram';
      readonly server: string;
      readonly chatId: string;
    }
  /** The address itself lets one write there, so it is sealed. */
  | { readonly kind: 'messaging'; readonly service: ChatService }
  | { readonly kind: 'webhook'; readonly url: string }
  /** `null`: the group of the script that it is about. */
  | { readonly kind: 'in_app'; readonly groupId: GroupId | null };

export interface ChannelSettings {
  readonly name: string;
  readonly enabled: boolean;
  readonly config: ChannelConfig;
}
