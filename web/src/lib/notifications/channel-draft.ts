import type { Channel } from '#lib/api/types.ts';

/** The values of the channel form. Secrets are empty until the user enters them. */
export interface ChannelDraft {
  name: string;
  kind: Channel['kind'];
  host: string;
  port: number | null;
  security: string;
  username: string;
  password: string;
  from: string;
  /** Email addresses, one per line. */
  to: string;
  service: string;
  chatId: string;
  token: string;
  url: string;
  /** An empty value selects the script's group. */
  groupId: string;
}

export function draftOf(channel: Channel | null): ChannelDraft {
  const config = channel?.config ?? {};
  const text = (name: string, otherwise = ''): string =>
    String((config[name] as string | undefined) ?? otherwise);
  const to = config['to'];
  return {
    name: channel?.name ?? '',
    kind: channel?.kind ?? 'email',
    host: text('host'),
    port: Number(config['port'] ?? 587),
    security: text('security', 'starttls'),
    username: text('username'),
    password: '',
    from: text('from'),
    to: Array.isArray(to) ? to.join('\n') : '',
    service: text('service', 'telegram'),
    chatId: text('chat_id'),
    token: '',
    url: text('url'),
    groupId: text('group_id'),
  };
}

function messagingOf({ service, chatId, token, url }: ChannelDraft): Channel['config'] {
  switch (service) {
    case 'telegram':
      return { service, chat_id: chatId.trim(), ...(token && { token: token.trim() }) };
    case 'pagerduty':
      return { service, ...(token && { routing_key: token.trim() }) };
    default:
      return { service, ...(url && { url: url.trim() }) };
  }
}

/** Returns the channel configuration for a request. Omits secrets that the user did not enter, which keeps the stored
 *  secrets. */
export function configOf(draft: ChannelDraft): Channel['config'] {
  switch (draft.kind) {
    case 'email':
      return {
        host: draft.host.trim(),
        port: draft.port ?? 587,
        security: draft.security,
        ...(draft.username.trim() && { username: draft.username.trim() }),
        ...(draft.password && { password: draft.password }),
        from: draft.from.trim(),
        to: draft.to.split(/[\s,]+/).filter(Boolean),
      };
    case 'messaging':
      return messagingOf(draft);
    case 'webhook':
      return { url: draft.url.trim() };
    case 'in_app':
      return { group_id: draft.groupId || null };
  }
}
