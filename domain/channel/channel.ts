/** The types of notification channels (contract §3, "Notification"). */
import type { GroupId } from '#domain/kernel/ids.ts';

export const channelKinds = ['email', 'messaging', 'webhook', 'in_app'] as const;
export type ChannelKind = (typeof channelKinds)[number];

export const mailSecurities = ['starttls', 'tls', 'none'] as const;
export type MailSecurity = (typeof mailSecurities)[number];

export const chatServices = ['slack', 'discord', 'mattermost', 'teams'] as const;
export type ChatService = (typeof chatServices)[number];

/** The configuration of a channel without its secrets, which are stored encrypted. */
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
  /** @remarks `server` is the server of the Telegram Bot API. */
  | {
      readonly kind: 'messaging';
      readonly service: 'telegram';
      readonly server: string;
      readonly chatId: string;
    }
  /** @remarks `server` is the server of the PagerDuty Events API. */
  | { readonly kind: 'messaging'; readonly service: 'pagerduty'; readonly server: string }
  /** The webhook URL is encrypted, because anyone who knows it can post messages. */
  | { readonly kind: 'messaging'; readonly service: ChatService }
  | { readonly kind: 'webhook'; readonly url: string }
  /** The group whose members are notified. `null` means the group of the script. */
  | { readonly kind: 'in_app'; readonly groupId: GroupId | null };

export interface ChannelSettings {
  readonly name: string;
  readonly enabled: boolean;
  readonly config: ChannelConfig;
}
