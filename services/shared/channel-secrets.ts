/** The secret settings of a channel, as one sealed value. */
import type { Sealed } from '#domain/secret/events.ts';
import type { Vault } from '#infra/secrets/vault.ts';

export interface ChannelSecrets {
  /** The password of a mail server. */
  readonly password?: string;
  /** The token of a Telegram bot, or the routing key of a PagerDuty integration. */
  readonly token?: string;
  /** The URL of a chat: anyone with the URL can post there. */
  readonly url?: string;
  /** Signs webhooks. */
  readonly secret?: string;
  /** The previous secret. Until the given time (RFC 3339), webhooks have a second signature with this secret. */
  readonly previous?: { readonly secret: string; readonly until: string };
}

const placeOf = (channelId: string) => ({ scriptId: channelId, name: 'channel', version: 1 });

/** @throws UnreadableSecret if the channel's data key was made with another master key */
export async function sealChannel(
  vault: Vault,
  channelId: string,
  secrets: ChannelSecrets,
): Promise<Sealed | null> {
  if (Object.keys(secrets).length === 0) return null;
  return await vault.seal(placeOf(channelId), JSON.stringify(secrets));
}

/** @throws UnreadableSecret */
export async function openChannel(
  vault: Vault,
  channelId: string,
  sealed: Sealed | null,
): Promise<ChannelSecrets> {
  if (sealed === null) return {};
  return JSON.parse(await vault.open(placeOf(channelId), sealed)) as ChannelSecrets;
}

/** Removes secrets from a text. Also removes the encoded forms in which mail servers receive them. */
export function withoutSecrets(text: string, secrets: ChannelSecrets): string {
  const values = [secrets.password, secrets.token, secrets.url, secrets.secret];
  return values
    .filter((value) => value !== undefined && value !== '')
    .flatMap((value = '') => [value, Buffer.from(value).toString('base64')])
    .reduce((all, value) => all.replaceAll(value, '***'), text);
}
