/** Seals all secret settings of a notification channel as one value. */
import type { Sealed } from '#domain/secret/events.ts';
import type { Vault } from '#infra/secrets/vault.ts';

export interface ChannelSecrets {
  /** The password for a mail server. */
  readonly password?: string;
  /** A Telegram bot token or a PagerDuty routing key. */
  readonly token?: string;
  /** The URL of a chat channel. It is secret, because the URL alone permits posting messages. */
  readonly url?: string;
  /** The key that signs webhooks. */
  readonly secret?: string;
  /**
   * The signing key before the last rotation. Until the given time (RFC 3339), webhook requests are also signed with
   * this key.
   */
  readonly previous?: { readonly secret: string; readonly until: string };
}

const placeOf = (channelId: string) => ({ scriptId: channelId, name: 'channel', version: 1 });

/** @throws UnreadableSecret if the channel's data key was encrypted with another master key */
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

/** Removes secrets from a text, including the encoded forms in which they are sent to mail servers. */
export function withoutSecrets(text: string, secrets: ChannelSecrets): string {
  const values = [secrets.password, secrets.token, secrets.url, secrets.secret];
  return values
    .filter((value) => value !== undefined && value !== '')
    .flatMap((value = '') => [value, Buffer.from(value).toString('base64')])
    .reduce((all, value) => all.replaceAll(value, '***'), text);
}
