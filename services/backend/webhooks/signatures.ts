/** Verifies the signatures of webhook calls. Two formats are accepted. Standard Webhooks
 *  (https://www.standardwebhooks.com) also signs a timestamp and a message ID. GitHub's format signs only the body. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { signingSecretPrefix } from './credentials.ts';

const toleranceSeconds = 5 * 60;

/** The reason why a call's signature is invalid; `undefined` if it is valid.
 *  @param secret the text that was shown to the owner */
export function signatureFault(
  headers: IncomingHttpHeaders,
  body: Uint8Array,
  secret: string,
  now: Date,
): string | undefined {
  const standard = textOf(headers['webhook-signature']);
  if (standard !== undefined) return standardFault(standard, headers, body, secret, now);
  const github = textOf(headers['x-hub-signature-256']);
  if (github === undefined) {
    return 'The call must be signed. Send the header webhook-signature or X-Hub-Signature-256.';
  }
  // GitHub uses the secret as text, including its prefix.
  const expected = createHmac('sha256', secret).update(body).digest();
  const given = /^sha256=([0-9a-f]{64})$/i.exec(github)?.[1];
  return given !== undefined && timingSafeEqual(Buffer.from(given, 'hex'), expected)
    ? undefined
    : 'The signature in X-Hub-Signature-256 does not match the body.';
}

function standardFault(
  signatures: string,
  headers: IncomingHttpHeaders,
  body: Uint8Array,
  secret: string,
  now: Date,
): string | undefined {
  const [id, timestamp] = [textOf(headers['webhook-id']), textOf(headers['webhook-timestamp'])];
  if (id === undefined || !/^[\x21-\x7e]{1,255}$/.test(id)) {
    return 'The header webhook-id is missing, or does not have 1 to 255 visible ASCII characters.';
  }
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) {
    return 'The header webhook-timestamp is missing, or is not a Unix timestamp in seconds.';
  }
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > toleranceSeconds) {
    return `The webhook-timestamp differs by more than ${toleranceSeconds} seconds from the server's time.`;
  }
  const key = Buffer.from(secret.slice(signingSecretPrefix.length), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  const fits = signatures.split(' ').some((one) => {
    const given = Buffer.from(one.startsWith('v1,') ? one.slice('v1,'.length) : '', 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  return fits ? undefined : 'No signature in webhook-signature matches the ID, timestamp and body.';
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
