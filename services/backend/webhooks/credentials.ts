/** Generates the tokens and signing secrets of webhooks. */
import { createHash, randomBytes } from 'node:crypto';

/** The stored hash of a token. Callers cannot choose the hash, so the lookup time
 *  reveals nothing. */
export function webhookTokenHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A new token, which identifies a webhook, with 256 random bits. */
export function newWebhookToken(): { readonly text: string; readonly hash: string } {
  const text = `whk_${randomBytes(32).toString('base64url')}`;
  return { text, hash: webhookTokenHash(text) };
}

export const signingSecretPrefix = 'whsec_';

/** A new signing secret: a prefix and a key in base64. */
export function newSigningSecret(): string {
  return `${signingSecretPrefix}${randomBytes(32).toString('base64')}`;
}
