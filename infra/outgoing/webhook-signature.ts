/** Signs outgoing webhook requests (Standard Webhooks 1.0). */
import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

/** Generates a signing secret from 256 random bits. */
export function newSigningSecret(): string {
  return `${prefix}${randomBytes(32).toString('base64')}`;
}

/** @param id the same for every delivery attempt
 *  @param secrets each secret adds one signature, so that secrets can be rotated */
export function signedHeaders(
  id: string,
  at: Date,
  body: string,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const timestamp = Math.floor(at.getTime() / 1000);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
