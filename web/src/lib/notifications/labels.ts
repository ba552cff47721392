import type { Channel, NotificationDelivery, NotificationRule } from '#lib/api/types.ts';
import type { Tone } from '#lib/ui/badge.svelte';

type NotifiableEvent = NotificationDelivery['on'];

/** Labels for the events that a rule can select. */
export const eventLabels: Record<NotificationRule['on'][number], string> = {
  failed: 'A run failed',
  failed_n_times: 'Several consecutive runs failed',
  recovered: 'A script recovered',
  success: 'A run succeeded',
  stopped: 'A run was stopped',
  missed: 'A scheduled run was missed',
  message: 'A script sent a message',
  alarm: 'Platform alarm raised',
  alarm_cleared: 'Platform alarm cleared',
  error_first_seen: 'A new error occurred',
  error_tenth_seen: 'An error occurred 10 times',
  error_reopened: 'A resolved error occurred again',
  run_late: 'A deadline was missed, or later met',
  script_stale: 'A script had no recent success, or succeeded again',
  run_too_long: 'A run took too long, or has since ended',
  approval_requested: 'A run requires approval, or its request was closed',
  secret_rotation_due: 'A secret is due for rotation, or was rotated',
  repository_sync_failed: 'A repository could not be synced, or was synced again',
};

export function eventLabel(on: NotifiableEvent): string {
  return on === 'test' ? 'Test notification' : eventLabels[on];
}

export const channelKinds: Record<Channel['kind'], string> = {
  email: 'Email',
  messaging: 'Chat',
  webhook: 'Webhook',
  in_app: 'Inbox',
};

export const chatServices = {
  telegram: 'Telegram',
  slack: 'Slack',
  discord: 'Discord',
  mattermost: 'Mattermost',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
} as const;

export const deliveryLooks: Record<NotificationDelivery['status'], { word: string; tone: Tone }> = {
  pending: { word: 'Waiting', tone: 'warning' },
  sent: { word: 'Sent', tone: 'success' },
  failed: { word: 'Failed', tone: 'danger' },
};

/** Describes where a channel sends messages, without revealing secrets. */
export function channelTarget({ kind, config }: Channel): string {
  const text = (name: string) => String((config[name] as string | undefined) ?? '');
  switch (kind) {
    case 'email':
      return Array.isArray(config['to']) ? config['to'].join(', ') : '';
    case 'messaging': {
      const service = chatServices[text('service') as keyof typeof chatServices];
      return config['chat_id'] ? `${service}, chat ${text('chat_id')}` : service;
    }
    case 'webhook':
      return text('url');
    case 'in_app':
      return config['group_id'] ? 'Selected group' : 'The script’s group';
  }
}
