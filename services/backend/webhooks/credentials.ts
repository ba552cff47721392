/** Tokens and signing secrets of webhooks. */
import { createHash, randomBytes } from 'node:crypto';

/** What is stored of a token: whoever guesses does not choose it, so that the time of a look-up tells
 *  nothing. */
export function webhookTokenHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Names one webhook among all: 256 random bits. */
export function newWebhookToken(): { readonly text: string; readonly hash: string } {
  const text = `whk_${randomBytes(32).toString('base64url')}`;
  return { text, hash: webhookTokenHash(text) };
}

export const signingSecretPrefix = 'whsec_';

/** A new secret to sign with: base64 of its key, behind a prefix. */
export function newSigningSecret(): string {
  return `${signingSecretPrefix}${randomBytes(32).toString('base64')}`;
}
